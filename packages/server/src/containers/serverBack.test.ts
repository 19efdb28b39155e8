import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { applyServerStatus } from './serverStatus.ts';
import { readyServer } from './testing/readyServer.ts';

const { at, running, view, wanted } = readyServer();

it('says of a container that was stopped by a reboot that its owner made, and starts it again', async () => {
  const { id } = await running({ restartPolicy: 'no' });
  const { startedAt } = await view(id);
  const second = (more: number) => new Date(Date.parse(startedAt!) + more * 1000).toISOString();
  at.daemon.inventory.bootedAt = second(60);
  at.daemon.inventory.containers = at.daemon.inventory.containers.map((one) => ({
    ...one,
    ...{ state: 'exited', exitCode: 137, finishedAt: second(61) },
  }));
  at.daemon.sendInventory();
  const stopped = { status: 'stopped', statusReason: 'It was stopped with its server' };
  await expect.poll(() => view(id)).toMatchObject(stopped);
  // The same is seen at every report.
  at.daemon.sendInventory();
  await at.alice.client(api.containers.start, { id });
  at.daemon.applyDesired(await wanted(id, 'running'));
  await expect.poll(() => view(id)).toMatchObject({ status: 'running', statusReason: null });
});

it('does not take what ran before a reboot for what runs after it', async () => {
  const { id } = await running({ restartPolicy: 'no' });
  const becomes = (status: string) => inTransaction(at.app.ctx.db, (trx) => applyServerStatus(trx, at.server, status));
  await becomes('rebooting');
  // Its daemon has connected again, and has not said yet what it sees.
  await sql`update daemon_node set connected_at = now() where instance_id = ${at.server}`.execute(at.app.ctx.db);
  await becomes('online');
  expect(await view(id)).toMatchObject({ status: 'unresponsive', statusReason: 'Its server is rebooting' });
  at.daemon.inventory.containers = at.daemon.inventory.containers.map((one) => ({
    ...one,
    ...{ state: 'exited', exitCode: 3, finishedAt: new Date().toISOString() },
  }));
  at.daemon.sendInventory();
  const stopped = { status: 'stopped', statusReason: 'It was stopped with its server' };
  await expect.poll(() => view(id)).toMatchObject(stopped);
  await becomes('online');
  expect(await view(id)).toMatchObject(stopped);
});
