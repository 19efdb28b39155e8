import type { Container } from '@stagi/contract/containers.ts';
import type { Membership } from '../auth/authenticate.ts';
import { containerNamed } from '../containers/access.ts';
import type { Db } from '../db/schema.ts';

/**
 * The container of that Unique ID, whichever workspace is active: a link is followed from anywhere. `forbidden` is for
 * who belongs to its workspace and may see none of its containers; to everybody else it is as if there were none.
 */
export async function findEntrance(
  db: Db,
  memberships: readonly Membership[],
  slug: string,
): Promise<Container | 'forbidden' | null> {
  const found = await Promise.all(memberships.map((workspace) => containerNamed({ db, workspace }, slug)));
  return found.find((one) => one !== null) ?? null;
}

export const hasPort = ({ portMappings }: Container, port: number): boolean =>
  portMappings.some(({ host }) => host === port);
