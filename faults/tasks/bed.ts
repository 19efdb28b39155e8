import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage } from '@stagi/daemon/src/testing/image.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import { aMachine, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { sql } from 'kysely';
import { type ChaosProxy, startChaosProxy } from '../link/chaosProxy.ts';
import type { Random } from '../link/random.ts';
import { until } from '../until.ts';
import { type StartWatch, watchStarts } from './starts.ts';
import { INPUT, INPUT_PREFIX, WORK } from './work.ts';

/** The platform as a process, daemons on this machine's Docker, and a project, a storage and input for tasks. */
export interface TaskBed {
  platform: Platform;
  pool: Pool;
  person: Person;
  /** What the commit was pushed with. */
  apiToken: string;
  servers: { id: number; daemon: TestDaemon }[];
  projectId: number;
  storageId: number;
  commit: string;
  starts: StartWatch;
  /** Between the daemons and the platform, and between the daemons and its S3 service. */
  proxies: ChaosProxy[];
  cleanUp(): Promise<void>;
}

const quiet = { info: () => {}, warn: () => {} };

export async function createTaskBed(
  random: Random,
  { servers = 1, logLevel = process.env.TEST_LOG_LEVEL ?? 'error' } = {},
): Promise<TaskBed> {
  await ensureTestImage();
  const folder = mkdtempSync(join(tmpdir(), 'stagi-tasks-'));
  // Only the checksum of the daemon's archive is needed: the daemons run from their source.
  mkdirSync(join(folder, 'daemon'));
  const archive = 'stagid-linux-x64.tar.gz';
  writeFileSync(join(folder, 'daemon', `${archive}.sha256`), `${'0'.repeat(64)}  ${archive}\n`);
  const ports = { daemon: await freePort(), s3: await freePort() };
  const platform = await spawnPlatform({
    DAEMON_ORIGIN: `http://127.0.0.1:${ports.daemon}`,
    S3_MACHINE_ORIGIN: `http://127.0.0.1:${ports.s3}`,
    STAGI_DAEMON_DIR: join(folder, 'daemon'),
    LOG_LEVEL: logLevel,
  });
  const undo: (() => unknown)[] = [() => platform.remove(), () => rmSync(folder, { recursive: true, force: true })];
  const cleanUp = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const portOf = (url: string) => Number(new URL(url).port);
    const proxies = [
      await startChaosProxy(() => portOf(platform.url), random, { port: ports.daemon }),
      await startChaosProxy(() => portOf(platform.s3Url), random, { port: ports.s3 }),
    ];
    undo.push(() => Promise.all(proxies.map((proxy) => proxy.close())));
    const { url } = await startEmbeddedPostgres({ dataDir: join(platform.dataDir, 'postgres'), log: quiet });
    const pool = openPool(url, { max: 4 });
    undo.push(() => pool.close());
    const person = await signUp(platform.url, httpSender(platform.url), { name: 'Kim', email: 'kim@example.com' });
    await pool.db.updateTable('workspace').set({ plan: 'Enterprise' }).execute();
    // Containers are named for their task: another run on this Docker may have a task 1 of its own.
    const firstId = 1 + (process.pid % 20_000) * 100_000;
    await sql`alter sequence task_id_seq restart with ${sql.raw(String(firstId))}`.execute(pool.db);

    const machine = aMachine();
    undo.push(() => machine.remove());
    const { id: projectId, commit, apiToken } = await pushWork(pool, person, machine);
    const storageId = await fillStorage(person);
    const joined: TaskBed['servers'] = [];
    for (let n = 1; n <= servers; n += 1) {
      const { entity, daemonToken } = await person.client(api.selfHosted.create, {
        title: `Own ${n}`,
        slug: `own-${n}`,
      });
      const daemon = await createDaemon({ node: String(entity.id), token: async () => daemonToken });
      undo.push(() => daemon.cleanUp());
      daemon.start();
      joined.push({ id: entity.id, daemon });
    }
    for (const { id } of joined) {
      await until('the server is online', async () => {
        const { entity } = await person.client(api.selfHosted.view, { id });
        return entity.status === 'online';
      });
      await person.client(api.projects.attachInstance, { projectRef: { id: projectId }, instanceRef: { id } });
    }
    const starts = await watchStarts(joined[0]!.daemon.labels['stagi.platform']!);
    undo.push(() => starts.close());
    return {
      platform,
      pool,
      person,
      apiToken,
      servers: joined,
      projectId,
      storageId,
      commit,
      starts,
      proxies,
      cleanUp,
    };
  } catch (error) {
    console.error(platform.log().slice(-4_000));
    await cleanUp();
    throw error;
  }
}

async function pushWork(pool: Pool, person: Person, machine: Machine) {
  const { entity } = await person.client(api.projects.create, { title: 'Work', slug: 'work' });
  const ctx = { db: pool.db } as Parameters<typeof anApiToken>[0];
  const { token: apiToken } = await anApiToken(ctx, person);
  const address = entity.gitHttps.replace('://', `://git:${apiToken}@`);
  const folder = await machine.repository('work', address);
  const commit = await machine.commit(folder, 'work.sh', WORK);
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
  return { id: entity.id, commit, apiToken };
}

async function fillStorage({ client }: Person): Promise<number> {
  const { entity } = await client(api.storages.create, {
    title: 'Data',
    slug: `data-${process.pid}`,
    sizeGb: 10,
    location: 'local',
  });
  await until('the storage is rented', async () => {
    const now = await client(api.storages.view, { id: entity.id });
    return now.entity.status === 'rented';
  });
  for (const [path, text] of Object.entries(INPUT)) {
    const { link } = await client(api.storages.uploadLink, { id: entity.id, key: INPUT_PREFIX + path });
    const answer = await fetch(link, { method: 'PUT', body: text });
    if (!answer.ok) throw new Error(`the input could not be stored: ${answer.status}`);
  }
  return entity.id;
}
