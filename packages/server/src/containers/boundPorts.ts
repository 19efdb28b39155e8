import { isDeepStrictEqual } from 'node:util';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { PRIVATE_ADDRESS } from '@stagi/contract/hostConfig.ts';
import type { ContainerRow, Db } from '../db/schema.ts';

type Row = Pick<ContainerRow, 'id' | 'bound_ports'>;

/** Keeps the addresses that a container's ports are bound to. Returns whether they are new. */
export async function recordBoundPorts(trx: Db, row: Row, { ports }: ActualContainer): Promise<boolean> {
  if (!ports || isDeepStrictEqual(ports, row.bound_ports)) return false;
  await trx
    .updateTable('container')
    .set({ bound_ports: JSON.stringify(ports) })
    .where('id', '=', row.id)
    .execute();
  return true;
}

/** Whether a port can be reached from outside of its server; null where that is not known. */
export function boundAs({ bound_ports }: Pick<ContainerRow, 'bound_ports'>, host: number): 'private' | 'public' | null {
  const bound = bound_ports?.find((one) => one.host === host);
  if (!bound) return null;
  return bound.address === PRIVATE_ADDRESS ? 'private' : 'public';
}
