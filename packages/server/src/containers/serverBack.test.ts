import { api } from '@stagi/contract/api.ts';
import { expect, it } from 'vitest';
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
