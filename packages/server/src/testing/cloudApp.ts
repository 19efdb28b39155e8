import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { expect } from 'vitest';
import { type FakeCloudProcess, type FakeControl, spawnFakeCloud } from '../providers/fake/control.ts';
import type { FakeRecord } from '../providers/fake/protocol.ts';
import { startTestApp, type TestApp } from './app.ts';
import type { Person } from './person.ts';

export const CPU_OFFER = 'fake:sim-cpu-4';
export const GPU_OFFER = 'fake:sim-l4-1';

/** The platform with a simulated cloud as its own process, whose clock runs fifty times as fast. */
export interface CloudApp extends TestApp {
  cloud: FakeCloudProcess;
  control: FakeControl;
  /** The cloud's machines of one instance, deleted ones too. */
  machinesOf(instanceId: number): Promise<FakeRecord[]>;
}

const CLOUD_SPEED = 50;

export async function startCloudApp(
  env: Record<string, string> = {},
  options: { role?: string } = {},
): Promise<CloudApp> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-fake-cloud-'));
  const cloud = await spawnFakeCloud({ statePath: join(folder, 'state.json'), provisionMs: 5_000 });
  await cloud.control.clock({ scale: CLOUD_SPEED });
  const app = await startTestApp({ FAKE_CLOUD_URL: cloud.url, ...builtDaemonEnv(folder), ...env }, options);
  return {
    ...app,
    cloud,
    control: cloud.control,
    async machinesOf(instanceId) {
      const { machines } = await cloud.control.report();
      return machines.filter(({ tags }) => tags.resource === String(instanceId));
    },
    async close() {
      await app.close();
      await cloud.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A stand-in for the daemon's build: enough for boot scripts, which only name it. */
export function builtDaemonEnv(folder: string): Record<string, string> {
  const daemonDir = join(folder, 'daemon');
  mkdirSync(daemonDir);
  writeFileSync(join(daemonDir, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  return { STAGI_DAEMON_DIR: daemonDir };
}

let rented = 0;

/** Rents through the call, with a new SSH key. */
export async function rentServer(
  person: Person,
  change: Partial<InputOf<typeof api.instances.rent>> = {},
): Promise<Instance> {
  rented += 1;
  const input = { offerId: CPU_OFFER, title: `Server ${rented}`, slug: `rented-${rented}`, ...change };
  const sshKeyId = change.sshKeyId ?? (await aKey(person));
  const { entity } = await person.client(api.instances.rent, { ...input, sshKeyId });
  return entity;
}

export async function aKey(person: Person): Promise<number> {
  const { entity } = await person.client(api.sshKeys.generate, { title: 'laptop' });
  return entity.id;
}

export async function viewInstance(person: Person, id: number): Promise<Instance> {
  return (await person.client(api.instances.view, { id })).entity;
}

/** Waits until the owner sees this status. */
export async function waitForStatus(person: Person, id: number, status: Instance['status'], timeout = 60_000) {
  await expect.poll(async () => (await viewInstance(person, id)).status, { timeout, interval: 50 }).toBe(status);
  return viewInstance(person, id);
}
