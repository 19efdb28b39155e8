import { isDeepStrictEqual } from 'node:util';
import { Protection } from '@stagi/contract/containerFields.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { type ActualContainer, PROTECTIONS_FEATURE } from '@stagi/contract/daemon.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import type { ContainerView } from './queries.ts';

type Row = Pick<ContainerRow, 'id' | 'protections'>;

/** Keeps what a container was created with. Returns whether that is new. */
export async function recordProtections(trx: Db, row: Row, { protections }: ActualContainer): Promise<boolean> {
  if (!protections || isDeepStrictEqual(protections, row.protections)) return false;
  await trx.updateTable('container').set({ protections }).where('id', '=', row.id).execute();
  return true;
}

/** An agent that does not tell knows none of them. */
export function presentUnprotected(row: ContainerView): Container['unprotected'] {
  if (row.docker_id === null || row.deleted_at !== null) return null;
  const isKnown = row.node_features?.includes(PROTECTIONS_FEATURE) ?? false;
  if (isKnown && row.protections === null) return null;
  const needed = Protection.options.filter((one) => one !== 'volumes' || row.directories.length > 0);
  const lacks = needed.filter((one) => !row.protections?.includes(one));
  return lacks.length === 0 ? null : { lacks, until: isKnown ? 'recreated' : 'newer agent' };
}
