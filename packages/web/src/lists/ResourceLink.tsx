import type { BilledResource } from '@stagi/contract/usage.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { paths } from '../paths.ts';

/** A link to the page of what a charge is for. */
export function ResourceLink({ resource: { kind, id }, children }: { resource: BilledResource; children: ReactNode }) {
  return <Link to={kind === 'storage' ? paths.storage(id) : paths.instance(id)}>{children}</Link>;
}
