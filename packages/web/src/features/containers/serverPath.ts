import type { Container } from '@stagi/contract/containers.ts';
import { paths } from '../../paths.ts';

/** The page of the server that a container runs on. */
export function serverPath({ id, kind }: Container['instance']): string {
  return kind === 'rented' ? paths.instance(id, 'containers') : paths.selfInstance(id, 'containers');
}
