import { api } from '@stagi/contract/api.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const REACHED = { timeout: 60_000, interval: 100 };

let app: TestApp;
let ada: Person;
let serverId: number;
let daemon: TestDaemon;

beforeAll(async () => {
  await ensureTestImage();
  app = await startTestApp();
  ada = await app.signUp('Ada');
  serverId = await aRentedInstance(app.ctx, ada);
  const { token } = await issueEnrolment(app.ctx, app.ctx.db, serverId, 'rented');
  daemon = await createDaemon({ node: String(serverId), token: async () => token });
  daemon.start();
}, 120_000);
afterAll(async () => {
  await daemon?.cleanUp();
  await app?.close();
});

const view = async (id: number) => (await ada.client(api.containers.view, { id })).entity;
const reaches = (id: number, status: string) => expect.poll(async () => (await view(id)).status, REACHED).toBe(status);
const act = (action: 'start' | 'stop', id: number) => ada.client(api.containers[action], { id });

async function aRunning(name: string): Promise<number> {
  const slug = `${name}-${process.pid}`;
  const { entity } = await ada.client(api.containers.create, {
    instanceRef: { id: serverId },
    title: name,
    slug,
    dockerImage: TEST_IMAGE,
    command: 'sleep 10000',
    cpus: 0.1,
    restartPolicy: 'no',
  });
  await reaches(entity.id, 'running');
  return entity.id;
}

async function actual(id: number): Promise<{ isRunning: boolean; command: string }> {
  const { State, Path, Args } = await docker.getContainer(`stagi-${(await view(id)).slug}`).inspect();
  return { isRunning: State.Running, command: [Path, ...Args].join(' ') };
}

/** Reads the rows of servers as a backup does; the answer puts them back, as a restore does. */
async function backUp(): Promise<() => Promise<void>> {
  const { db } = app.ctx;
  const containers = await db
    .selectFrom('container')
    .select(['id', 'gen', 'desired', 'status', 'status_reason', 'spec_no', 'last_spec_no', 'command'])
    .select(['docker_id', 'exit_code', 'started_at', 'finished_at'])
    .execute();
  const nodes = await db.selectFrom('daemon_node').select(['instance_id', 'desired_gen']).execute();
  return async () => {
    for (const { id, ...row } of containers) await db.updateTable('container').set(row).where('id', '=', id).execute();
    for (const { instance_id, ...row } of nodes)
      await db.updateTable('daemon_node').set(row).where('instance_id', '=', instance_id).execute();
  };
}

it('follows a database that was restored, and whoever uses it then', async () => {
  await expect
    .poll(async () => (await ada.client(api.instances.view, { id: serverId })).entity.terminalRefusal, REACHED)
    .toBeNull();
  const [stopped, ended, changed] = [await aRunning('stopped'), await aRunning('ended'), await aRunning('changed')];
  const restore = await backUp();
  await act('stop', stopped);
  await reaches(stopped, 'stopped');
  await act('stop', ended);
  await reaches(ended, 'stopped');
  await act('start', ended);
  await reaches(ended, 'running');
  await docker.getContainer(`stagi-${(await view(ended)).slug}`).kill();
  await reaches(ended, 'failed');
  await ada.client(api.containers.edit, { ref: { id: changed }, command: 'sleep 20000' });
  await expect.poll(async () => (await view(changed)).pendingEdit, REACHED).toBeNull();
  expect(await actual(changed)).toEqual({ isRunning: true, command: 'sleep 20000' });

  await daemon.end('SIGTERM');
  await restore();
  daemon.start();
  // It ran when the backup was made.
  await expect.poll(() => actual(stopped), REACHED).toMatchObject({ isRunning: true });
  await reaches(stopped, 'running');
  await expect.poll(() => actual(changed), REACHED).toEqual({ isRunning: true, command: 'sleep 10000' });
  await reaches(changed, 'running');
  // It has ended by itself.
  await reaches(ended, 'failed');
  expect((await actual(ended)).isRunning).toBe(false);

  for (const id of [stopped, changed]) {
    await act('stop', id);
    await reaches(id, 'stopped');
    expect((await actual(id)).isRunning).toBe(false);
  }
  for (const id of [stopped, changed, ended]) {
    await act('start', id);
    await reaches(id, 'running');
    expect((await actual(id)).isRunning).toBe(true);
  }
  await ada.client(api.containers.edit, { ref: { id: changed }, command: 'sleep 30000' });
  await expect.poll(() => actual(changed), REACHED).toEqual({ isRunning: true, command: 'sleep 30000' });
}, 240_000);
