import type { DaemonMessage, RememberedContainer } from '@stagi/contract/daemon.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { storeEdit } from './edit.ts';
import { transitionContainer } from './status.ts';

type Hello = Pick<Extract<DaemonMessage, { type: 'hello' }>, 'inventory' | 'remembered'>;

/** A daemon may report any number. The next ones must fit into the 31 bits of a column, for long. */
const HIGHEST = 2 ** 30;

/**
 * A database that was restored from a backup knows an older state than its daemons, which ignore what they take for old.
 * Raises generations and numbers of specifications to what a daemon remembers, before it is sent its first desired state;
 * the desired states stay as they were restored. Otherwise no daemon remembers more than the database, and nothing changes.
 */
export async function catchUpWithDaemon(trx: Db, instanceId: number, hello: Hello): Promise<void> {
  const { appliedGen, containers } = hello.inventory;
  if (appliedGen <= HIGHEST)
    await trx
      .updateTable('daemon_node')
      .set({ desired_gen: appliedGen })
      .where('instance_id', '=', instanceId)
      .where('desired_gen', '<', appliedGen)
      .execute();
  // Earlier daemons tell only the generation that each container has reached.
  const remembered =
    hello.remembered ?? containers.map(({ id, gen, specNo = 1 }) => ({ id, gen, begunGen: gen, specNo }));
  const known = new Map(remembered.map((one) => [one.id, one]));
  const rows = await trx
    .selectFrom('container')
    .selectAll()
    .where('instance_id', '=', instanceId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  for (const row of rows) {
    const one = known.get(row.id);
    if (one && one.gen > row.gen && one.gen <= HIGHEST && one.specNo <= HIGHEST) await catchUp(trx, row, one);
  }
}

async function catchUp(trx: Db, row: ContainerRow, { gen, begunGen, specNo }: RememberedContainer): Promise<void> {
  const last_spec_no = Math.max(row.last_spec_no, specNo);
  await trx.updateTable('container').set({ gen, last_spec_no }).where('id', '=', row.id).execute();
  // A change that the database has forgotten is changed back.
  if (specNo !== row.spec_no && row.desired !== 'absent') return storeEdit(trx, row, {});
  // One that was last started under the highest generation runs, or has ended by itself: the next would start it again.
  if (begunGen === gen) return;
  // Any other was stopped, or has failed, under an order that the database has forgotten. So what is desired is ordered
  // anew, and what its server shows of it until then is not how that ends.
  const isToStart = row.desired === 'running' && (row.status === 'running' || row.status === 'rebooting');
  await transitionContainer(trx, row.id, isToStart ? 'unresponsive' : row.status, { desired: row.desired });
}
