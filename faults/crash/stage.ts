import type { ChildProcess } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CrashPoint } from '@stagi/contract/crashPoints.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { type FakeCloudProcess, spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import pg from 'pg';
import { until } from '../until.ts';
import { aFolder, spawnPlatform } from './platform.ts';

/** The clock of the cloud runs this much faster. */
export const CLOUD_SPEED = 50;

export interface Crash {
  point: CrashPoint | null;
  at: number;
}

/** The platform as a process that is restarted after each crash, a simulated cloud as another, and a customer. */
export interface Stage {
  name: string;
  url: string;
  cloud: FakeCloudProcess;
  customer: Person;
  db: pg.Pool;
  /** Arms a crash point for the platform; `null`: disarms. */
  arm(point: CrashPoint | null): void;
  /** The next crash, or `null` when none comes in time. */
  nextDeath(withinMs: number): Promise<Crash | null>;
  /** The number of armed crashes, and the exits that were not armed. */
  deaths(): number;
  surprises: string[];
  ready(): Promise<void>;
  close(): Promise<void>;
}

export async function openStage(name: string, env: Record<string, string> = {}): Promise<Stage> {
  const database = await createTestDatabase();
  const folder = aFolder(name);
  const armed = join(folder, 'armed');
  writeFileSync(armed, '');
  writeFileSync(`${armed}.deaths`, '');
  const cloud = await spawnFakeCloud({ statePath: join(folder, 'cloud.json'), provisionMs: 5_000 });
  await cloud.control.clock({ scale: CLOUD_SPEED });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const db = new pg.Pool({ connectionString: database.url, max: 4, application_name: 'fault-run' });
  // The database is dropped under connections that are closing.
  db.on('error', () => {});
  const waiting = new Set<(death: Crash) => void>();
  const surprises: string[] = [];
  let count = 0;
  let closing = false;
  let child = launch();

  function launch(): ChildProcess {
    const process_ = spawnPlatform({
      environment: name,
      folder,
      port,
      databaseUrl: database.url,
      cloudUrl: cloud.url,
      env: { STAGI_CRASH_POINT: `@${armed}`, ...env },
    });
    process_.once('exit', (code, signal) => {
      if (closing) return;
      const known = readFileSync(`${armed}.deaths`, 'utf8').trimEnd().split('\n').slice(count);
      const death: Crash = { point: (known[0] as CrashPoint | undefined) ?? null, at: Date.now() };
      if (known[0]) count += 1;
      else surprises.push(`the platform ended with ${code ?? signal}`);
      for (const tell of waiting) tell(death);
      child = launch();
    });
    return process_;
  }

  const ready = async (): Promise<void> => {
    await until(`${name} serves`, async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok, 60_000);
  };
  await ready();
  const customer = await signUp(url, httpSender(url), { name: 'Kim', email: `kim@${name}.example.com` });
  await db.query("update workspace set plan = 'Enterprise'");
  await db.query('update app_user set is_employee = true');

  return {
    name,
    url,
    cloud,
    customer,
    db,
    surprises,
    ready,
    deaths: () => count,
    arm(point) {
      writeFileSync(armed, point ?? '');
    },
    nextDeath(withinMs) {
      return new Promise((resolve) => {
        const settle = (death: Crash | null): void => {
          clearTimeout(timer);
          waiting.delete(settle);
          resolve(death);
        };
        const timer = setTimeout(settle, withinMs, null);
        waiting.add(settle);
      });
    },
    async close() {
      closing = true;
      const ended = child.exitCode === null && child.signalCode === null;
      const gone = ended ? new Promise((resolve) => child.once('exit', resolve)) : null;
      child.kill('SIGKILL');
      await gone;
      await cloud.kill();
      await db.end();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
