import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';

// In the environment, so that the worker processes of a test run inherit it.
const TEMPLATE = 'STAGI_TEST_TEMPLATE_URL';
const PREFIX = 'stagi_test_';
const ABANDONED_AFTER_MS = 6 * 3_600_000;
const ON_DISK = join(import.meta.dirname, '../../../../.cache/test-postgres');
/** One for each user of this machine. */
const IN_MEMORY = `/dev/shm/stagi-test-postgres-${process.getuid?.()}`;
const ROOM_BYTES = 4e9;
const TMPFS = 0x01021994;
const QUIET = { info: () => {}, warn: (line: string) => console.warn(line) };

/**
 * A fresh database for one test file, migrated unless it is to be empty. `startTestPostgres` must have run in this process
 * or a parent.
 */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const template = process.env[TEMPLATE];
  if (!template) throw new Error('No test database: call startTestPostgres first (vitest does so in its global setup)');
  const name = `${nameOf(template)}_${randomBytes(6).toString('hex')}`;
  const source = isEmpty ? 'template0' : nameOf(template);
  await execute(template, `create database ${name} template ${source} strategy file_copy`);
  return {
    url: withDatabase(template, name),
    drop: () => execute(template, `drop database if exists ${name} with (force)`),
  };
}

/**
 * The PostgreSQL of one test run, with a migrated template in it: an embedded one without fsync, or the server of
 * `TEST_DATABASE_URL`, whose user must be allowed to create databases. `stop` removes every database of the run.
 * With `inMemory`, the embedded one keeps its files in memory where there is room.
 */
export async function startTestPostgres({ inMemory = false } = {}): Promise<{ stop(): Promise<void> }> {
  if (process.env[TEMPLATE]) return { stop: async () => {} };
  const server = process.env.TEST_DATABASE_URL
    ? await useExternalServer(process.env.TEST_DATABASE_URL)
    : await startEmbeddedServer(inMemory && hasRoomInMemory() ? IN_MEMORY : ON_DISK);
  const run = `${PREFIX}${Date.now().toString(36)}_${randomBytes(3).toString('hex')}`;
  const stop = async () => {
    delete process.env[TEMPLATE];
    await dropDatabases(server.url, (name) => name.startsWith(run));
    await server.stop();
  };
  try {
    await execute(server.url, `create database ${run}`);
    await migrate(withDatabase(server.url, run));
  } catch (error) {
    await stop();
    throw error;
  }
  process.env[TEMPLATE] = withDatabase(server.url, run);
  return { stop };
}

async function useExternalServer(url: string) {
  await dropDatabases(url, (name) => Number.parseInt(name.split('_')[2]!, 36) < Date.now() - ABANDONED_AFTER_MS);
  return { url, stop: async () => {} };
}

/** Each database is a thousand files: a disk takes up to a second to copy them, memory a twentieth of that. */
function hasRoomInMemory() {
  if (!existsSync('/dev/shm')) return false;
  const { type, bavail, bsize } = statfsSync('/dev/shm');
  return type === TMPFS && Math.min(bavail * bsize, process.availableMemory()) > ROOM_BYTES;
}

async function startEmbeddedServer(folder: string) {
  await removeAbandonedServers();
  mkdirSync(folder, { recursive: true });
  const dataDir = join(folder, String(process.pid));
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
  const { url, stop } = await startEmbeddedPostgres({ dataDir, settings, log: QUIET });
  const stopAndRemove = async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url, stop: stopAndRemove };
}

/** Removes servers that killed runs left running. */
export async function removeAbandonedServers() {
  for (const folder of [ON_DISK, IN_MEMORY].filter((one) => existsSync(one)))
    for (const pid of readdirSync(folder)) if (!existsSync(`/proc/${pid}`)) await removeServer(join(folder, pid));
}

async function removeServer(dataDir: string) {
  try {
    if (existsSync(join(dataDir, 'cluster'))) await (await startEmbeddedPostgres({ dataDir, log: QUIET })).stop();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function dropDatabases(server: string, isOld: (name: string) => boolean) {
  const client = new pg.Client({ connectionString: withDatabase(server, 'postgres') });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    for (const { datname } of rows)
      if (datname.startsWith(PREFIX) && isOld(datname))
        await client.query(`drop database if exists ${datname} with (force)`);
  } finally {
    await client.end();
  }
}

async function execute(server: string, sql: string) {
  const client = new pg.Client({ connectionString: withDatabase(server, 'postgres') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);

function withDatabase(url: string, name: string) {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
