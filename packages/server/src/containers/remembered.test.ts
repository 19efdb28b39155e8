import { api } from '@stagi/contract/api.ts';
import { type ActualContainer, EDIT_FEATURE, type RememberedContainer } from '@stagi/contract/daemon.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { connectDaemon, type TestDaemon } from '../testing/daemon.ts';
import { readyServer } from './testing/readyServer.ts';

const { at, join, running, view, wanted } = readyServer();

let again: TestDaemon | null = null;
afterEach(async () => {
  await again?.close();
  again = null;
});

const act = (action: 'start' | 'stop', id: number) => at.alice.client(api.containers[action], { id });
async function follow(id: number, state: string, status: string): Promise<void> {
  at.daemon.applyDesired(await wanted(id, state));
  await expect.poll(async () => (await view(id)).status).toBe(status);
}

/** Takes what the database says of a container and its server now; what it answers brings that back. */
async function backUp(id: number): Promise<() => Promise<void>> {
  const { db } = at.app.ctx;
  const row = await db
    .selectFrom('container')
    .select(['gen', 'desired', 'status', 'status_reason', 'spec_no', 'last_spec_no', 'image', 'started_at'])
    .select(['finished_at', 'exit_code', 'docker_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const node = await db
    .selectFrom('daemon_node')
    .select('desired_gen')
    .where('instance_id', '=', at.server)
    .executeTakeFirstOrThrow();
  return async () => {
    await db.updateTable('container').set(row).where('id', '=', id).execute();
    await db.updateTable('daemon_node').set(node).where('instance_id', '=', at.server).execute();
  };
}

/** The link ends, the database goes back to its backup, and the daemon comes back with what it has and remembers. */
async function restore(
  bringBack: () => Promise<void>,
  shown: Partial<ActualContainer>,
  remembered?: Omit<RememberedContainer, 'id'>,
): Promise<TestDaemon> {
  const { appliedGen, containers } = at.daemon.inventory;
  const identity = await join(at.server);
  await at.daemon.close();
  await bringBack();
  const [container] = containers;
  again = await connectDaemon(at.app.url, identity, {
    inventory: { appliedGen },
    containers: [{ ...container!, ...shown }],
    features: [EDIT_FEATURE],
    ...(remembered && { remembered: [{ id: container!.id, ...remembered }] }),
  });
  const { gen } = await again.desired();
  expect(gen).toBeGreaterThan(appliedGen);
  return again;
}
async function reportedGen(): Promise<number | undefined> {
  const node = await at.app.ctx.db
    .selectFrom('daemon_node')
    .select('inventory')
    .where('instance_id', '=', at.server)
    .executeTakeFirst();
  return node?.inventory?.appliedGen;
}
const ordered = async (daemon: TestDaemon) => (await daemon.desired()).containers[0]!;

describe('a daemon that remembers more than a restored database', () => {
  it('runs a container again that was stopped since, also without a restart policy', async () => {
    const { id } = await running({ restartPolicy: 'no' });
    const bringBack = await backUp(id);
    await act('stop', id);
    await follow(id, 'stopped', 'stopped');
    const daemon = await restore(
      bringBack,
      { state: 'exited', exitCode: 143, gen: 2 },
      { gen: 2, begunGen: 1, specNo: 1 },
    );
    const order = await daemon.desired();
    expect(order.containers[0]).toMatchObject({ state: 'running', gen: 3, specNo: 1 });
    expect(await view(id)).toMatchObject({ status: 'starting' });
    // It has the order, and has not begun with it.
    daemon.inventory.appliedGen = order.gen;
    daemon.sendInventory();
    await expect.poll(reportedGen).toBe(order.gen);
    expect(await view(id)).toMatchObject({ status: 'starting' });
    daemon.applyDesired(order);
    await expect.poll(async () => (await view(id)).status).toBe('running');
  });

  it('does not run one again that has ended by itself, and starts it when somebody asks for it', async () => {
    const { id } = await running({ restartPolicy: 'no' });
    const bringBack = await backUp(id);
    await act('stop', id);
    await follow(id, 'stopped', 'stopped');
    await act('start', id);
    await follow(id, 'running', 'running');
    const daemon = await restore(
      bringBack,
      { state: 'exited', exitCode: 0, gen: 3 },
      { gen: 3, begunGen: 3, specNo: 1 },
    );
    expect(await ordered(daemon)).toMatchObject({ state: 'stopped', gen: 3 });
    expect(await view(id)).toMatchObject({ status: 'exited', exitCode: 0 });
    await act('start', id);
    daemon.applyDesired(await daemon.desired(({ containers }) => containers[0]!.gen === 4));
    await expect.poll(async () => (await view(id)).status).toBe('running');
  });

  it('goes back to the restored specification, and the next one has a number that was never used', async () => {
    const { id, dockerImage } = await running({ restartPolicy: 'no' });
    const bringBack = await backUp(id);
    await at.alice.client(api.containers.edit, { ref: { id }, dockerImage: 'busybox:2' });
    at.daemon.applyDesired(await at.daemon.desired(({ containers }) => containers[0]?.specNo === 2));
    await expect.poll(async () => (await view(id)).pendingEdit).toBeNull();
    const daemon = await restore(
      bringBack,
      { state: 'running', gen: 2, specNo: 2 },
      { gen: 2, begunGen: 2, specNo: 2 },
    );
    const order = await daemon.desired();
    expect(order.containers[0]).toMatchObject({ gen: 3, specNo: 1, spec: { image: dockerImage } });
    expect(await view(id)).toMatchObject({ status: 'running', pendingEdit: expect.any(Object) });
    // Its daemon recreates it.
    daemon.send({ type: 'progress', containerId: id, gen: 3, phase: 'stopping', detail: null, fraction: null });
    Object.assign(daemon.inventory, { appliedGen: order.gen });
    Object.assign(daemon.inventory.containers[0]!, { state: 'exited', exitCode: 143 });
    daemon.sendInventory();
    await expect.poll(reportedGen).toBe(order.gen);
    expect((await view(id)).status).toBe('rebooting');
    daemon.applyDesired(order);
    await expect.poll(() => view(id)).toMatchObject({ status: 'running', pendingEdit: null });
    await at.alice.client(api.containers.edit, { ref: { id }, dockerImage: 'busybox:3' });
    const changed = await daemon.desired(({ containers }) => containers[0]!.spec.image === 'busybox:3');
    expect(changed.containers[0]).toMatchObject({ gen: 4, specNo: 3 });
  });

  it('stops one that was started since', async () => {
    const { id } = await running();
    await act('stop', id);
    await follow(id, 'stopped', 'stopped');
    const bringBack = await backUp(id);
    await act('start', id);
    await follow(id, 'running', 'running');
    const daemon = await restore(bringBack, { state: 'running', gen: 3 }, { gen: 3, begunGen: 3, specNo: 1 });
    expect(await ordered(daemon)).toMatchObject({ state: 'stopped', gen: 3 });
  });

  it('is followed also when it is an earlier one, by the generation that it shows', async () => {
    const { id } = await running();
    const bringBack = await backUp(id);
    await act('stop', id);
    await follow(id, 'stopped', 'stopped');
    await act('start', id);
    await follow(id, 'running', 'running');
    const daemon = await restore(bringBack, { state: 'running', gen: 3 });
    expect(await ordered(daemon)).toMatchObject({ state: 'running', gen: 3 });
    await act('stop', id);
    await daemon.desired(({ containers }) => containers[0]!.gen === 4 && containers[0]!.state === 'stopped');
  });

  it('is not believed a number that leaves no room for the next', async () => {
    const { id } = await running();
    const daemon = await restore(async () => {}, {}, { gen: Number.MAX_SAFE_INTEGER, begunGen: 1, specNo: 1 });
    expect(await ordered(daemon)).toMatchObject({ id, state: 'running', gen: 1 });
  });
});
