import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { JOURNAL_KINDS } from '../db/journalKinds.ts';
import { MIGRATIONS, migrate } from '../db/migrate.ts';
import { STATUS_MOVES } from '../db/statusMoves.ts';
import { type Running, start } from '../start.ts';
import { createTestDatabase } from '../testing/database.ts';
import { runOperator } from '../testing/operator.ts';
import { httpSender } from '../testing/person.ts';
import { signUpDirectly } from '../testing/signUpDirectly.ts';

const ORIGIN = 'https://stagi.example';
const KEY = randomBytes(32).toString('base64');

/** Changes with every row of every table, and with every file of the data folder. */
async function fingerprintOf({ DATABASE_URL, STAGI_DATA }: Settings): Promise<string> {
  const hash = createHash('sha256');
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema in ('public', 'pgboss') order by 1`,
    );
    for (const { name } of rows) {
      const { rows: found } = await client.query(
        `select count(*)::int, md5(string_agg(md5(t::text), '' order by md5(t::text))) from ${name} t`,
      );
      hash.update(`${name} ${JSON.stringify(found)}\n`);
    }
  } finally {
    await client.end();
  }
  for (const name of filesIn(STAGI_DATA)) hash.update(`${name} ${statSync(join(STAGI_DATA, name)).mtimeMs}\n`);
  return hash.digest('hex');
}

const filesIn = (folder: string): string[] => (readdirSync(folder, { recursive: true }) as string[]).sort();

interface Settings extends Record<string, string> {
  DATABASE_URL: string;
  STAGI_DATA: string;
}

const cleanUps: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-installation-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function newDatabase(): Promise<string> {
  const { url, drop } = await createTestDatabase();
  cleanUps.push(drop);
  return url;
}

async function settingsOf(given: Record<string, string>): Promise<Settings> {
  return {
    PORT: String(await freePort()),
    METRICS_PORT: 'off',
    S3_PORT: String(await freePort()),
    GIT_SSH_PORT: String(await freePort()),
    LOCAL_CLOUD: 'off',
    LOG_LEVEL: 'fatal',
    ALLOWED_HOSTS: '127.0.0.1',
    APP_ORIGIN: ORIGIN,
    DAEMON_ORIGIN: ORIGIN,
    ...given,
  } as unknown as Settings;
}

/** Starts the platform, does `work` with it, and stops it. */
async function withPlatform<T>(settings: Settings, work: (running: Running) => Promise<T>): Promise<T> {
  const running = await start(readConfig(settings));
  try {
    return await work(running);
  } finally {
    await running.stop();
  }
}

const problemOf = (settings: Settings): Promise<string> =>
  withPlatform(settings, async () => 'it started').catch((error: Error) => error.message);

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The output of a command that succeeds. */
async function done(settings: Settings, ...args: string[]): Promise<string> {
  const { code, out } = await runOperator(settings, ...args);
  expect(code, out).toBe(0);
  return out;
}

describe('a platform that people have used', () => {
  let settings: Settings;
  beforeAll(async () => {
    settings = await settingsOf({
      DATABASE_URL: await newDatabase(),
      STAGI_DATA: newFolder(),
      STAGI_SECRET_KEY: KEY,
      STAGI_ENVIRONMENT: 'lab',
    });
    await withPlatform(settings, async ({ ctx }) => {
      const send = httpSender(`http://127.0.0.1:${settings.PORT}`);
      await signUpDirectly(ctx, send, { name: 'Alice', email: 'alice@example.com' });
      await ctx.blobs.get('local')!.put('objects/00000000-0000-4000-8000-000000000000', bytes());
    });
  });

  async function* bytes() {
    yield Buffer.from('bytes');
  }

  const refusals: [string, () => Promise<Partial<Settings>>, string | RegExp][] = [
    [
      'another environment',
      async () => ({ STAGI_ENVIRONMENT: 'other' }),
      'STAGI_ENVIRONMENT is other, and the machines of this platform are marked lab. ' +
        'Leave it out, or change the mark: npm run operator -- move --environment other',
    ],
    [
      'another key',
      async () => ({ STAGI_SECRET_KEY: randomBytes(32).toString('base64') }),
      /^STAGI_SECRET_KEY is key [0-9a-f]{8}, and the secrets in the database are sealed with key [0-9a-f]{8}: set it/,
    ],
    [
      'no key',
      async () => ({ STAGI_SECRET_KEY: '' }),
      /^STAGI_SECRET_KEY is missing, and so is secret\.key in the data folder: the secrets .* key [0-9a-f]{8}$/,
    ],
    [
      'another origin',
      async () => ({ APP_ORIGIN: 'https://other.example', DAEMON_ORIGIN: 'https://other.example' }),
      'APP_ORIGIN is https://other.example, and this platform is at https://stagi.example. ' +
        'If it has moved: npm run operator -- move --origin https://other.example',
    ],
    [
      'an origin on this machine',
      async () => ({ APP_ORIGIN: '' }),
      /^APP_ORIGIN is http:\/\/localhost:\d+, and this platform is at https:\/\/stagi\.example\. If it has moved: /,
    ],
    [
      'another address for machines',
      async () => ({ DAEMON_ORIGIN: 'https://daemons.example' }),
      'DAEMON_ORIGIN is https://daemons.example, and machines reach this platform at https://stagi.example. ' +
        'If it has moved: npm run operator -- move --daemon-origin https://daemons.example',
    ],
    [
      'no address for machines',
      async () => ({ DAEMON_ORIGIN: '' }),
      /^DAEMON_ORIGIN is missing, and machines .* npm run operator -- move --daemon-origin none$/,
    ],
    [
      'an empty data folder',
      async () => ({ STAGI_DATA: newFolder() }),
      /^STAGI_DATA \(.*\) belongs to no database, and the database to another data folder: .* move --data$/,
    ],
    [
      'the data folder of another platform',
      async () => {
        const other = await settingsOf({ DATABASE_URL: await newDatabase(), STAGI_DATA: newFolder() });
        await withPlatform(other, async () => {});
        return { STAGI_DATA: other.STAGI_DATA };
      },
      /^STAGI_DATA \(.*\) belongs to another database, and the database to another data folder: /,
    ],
    [
      'no database named',
      async () => ({ DATABASE_URL: '' }),
      /^DATABASE_URL is missing, and the data in .* belongs to a database elsewhere: set it to that one\. To begin anew, /,
    ],
    [
      'a database that knows nothing of it',
      async () => ({ DATABASE_URL: await newDatabase() }),
      /^DATABASE_URL leads to a database that does not know the data in .*: set it to the one that does\. /,
    ],
  ];

  it.each(refusals)('is refused with %s, and nothing changes', async (_, change, problem) => {
    const given = { ...settings, ...(await change()) } as Settings;
    const before = await fingerprintOf(settings);
    const wrong = given.DATABASE_URL || settings.DATABASE_URL;
    const beforeThere = await fingerprintOf({ ...given, DATABASE_URL: wrong });
    expect(await problemOf(given)).toMatch(problem);
    expect(await fingerprintOf(settings)).toBe(before);
    expect(await fingerprintOf({ ...given, DATABASE_URL: wrong })).toBe(beforeThere);
  });

  it('is refused by a version that is older than its database, and nothing changes', async () => {
    await query(
      settings.DATABASE_URL,
      `insert into migration (name) values ('9999_of_a_newer_version');
       insert into status_move (kind, from_status, to_status) values ('rented', 'online', 'of-a-newer-version')`,
    );
    const before = await fingerprintOf(settings);
    expect(await problemOf(settings)).toMatch(
      /^The database was migrated by a newer version than \d+\.\d+\.\d+ \(9999_of_a_newer_version\): start that version, or /,
    );
    expect(await fingerprintOf(settings)).toBe(before);
    await query(settings.DATABASE_URL, `delete from migration where name = '9999_of_a_newer_version'`);
  });

  it('keeps the mark of its machines where none is named, whatever the path of its data folder', async () => {
    const STAGI_DATA = newFolder();
    cpSync(settings.STAGI_DATA, STAGI_DATA, { recursive: true });
    await withPlatform({ ...settings, STAGI_DATA, STAGI_ENVIRONMENT: '' }, async ({ ctx }) =>
      expect(ctx.config.environment).toBe('lab'),
    );
  });

  it('moves to another address by the command that the refusal names', async () => {
    const moved = { ...settings, APP_ORIGIN: 'https://new.example' };
    const problem = await problemOf(moved);
    const [, command = ''] = / npm run operator -- (move .*)$/.exec(problem) ?? [];
    expect(await done(settings, ...command.split(' '))).toContain('This platform is at https://new.example');
    await withPlatform(moved, async () => {});
    expect(await problemOf(settings)).toMatch(/^APP_ORIGIN is https:\/\/stagi\.example, /);
    await done(moved, 'move', '--origin', ORIGIN);
  });

  it('moves to another data folder, and other commands refuse the wrong one', async () => {
    const elsewhere = { ...settings, STAGI_DATA: newFolder() };
    expect((await runOperator(elsewhere, 's3-admin', 'suite')).out).toMatch(/belongs to no database/);
    expect(await done(elsewhere, 'move', '--data')).toContain('belongs to this database from now on');
    await withPlatform(elsewhere, async () => {});
    expect(await problemOf(settings)).toMatch(/^STAGI_DATA \(.*\) belongs to another database/);
    await done(settings, 'move', '--data');
  });

  it('keeps its mark while it has rented servers', async () => {
    await query(
      settings.DATABASE_URL,
      `insert into instance (workspace_id, kind, slug, title, status)
       select id, 'rented', 'gpu', 'GPU', 'in queue' from workspace limit 1`,
    );
    expect((await runOperator(settings, 'move', '--environment', 'other')).out).toMatch(
      /1 rented server is marked lab at the clouds and would be lost: terminate them first/,
    );
    await query(settings.DATABASE_URL, 'delete from instance');
    expect(await done(settings, 'move', '--environment', 'other')).toContain('marked other (before: lab)');
    await done(settings, 'move', '--environment', 'lab');
  });
});

it('goes on with a first start that was killed between the data folder and the database', async () => {
  const settings = await settingsOf({ DATABASE_URL: await newDatabase(), STAGI_DATA: newFolder() });
  const id = '00000000-0000-4000-8000-000000000001';
  writeFileSync(join(settings.STAGI_DATA, 'installation.json'), JSON.stringify({ id, isJoined: false }));
  await withPlatform(settings, async () => {});
  expect(JSON.parse(readFileSync(join(settings.STAGI_DATA, 'installation.json'), 'utf8'))).toEqual({
    id,
    isJoined: true,
  });
});

it('gives an id to a platform of a version that had none', async () => {
  const settings = await settingsOf({ DATABASE_URL: await newDatabase(), STAGI_DATA: newFolder() });
  await withPlatform(settings, async () => {});
  await query(settings.DATABASE_URL, 'delete from installation');
  rmSync(join(settings.STAGI_DATA, 'installation.json'));
  await withPlatform(settings, async ({ ctx }) => expect(ctx.installationId).toMatch(/^[0-9a-f-]{36}$/));
});

it('on this machine alone, takes another port as it comes', async () => {
  const settings = await settingsOf({ DATABASE_URL: await newDatabase(), STAGI_DATA: newFolder(), APP_ORIGIN: '' });
  await withPlatform(settings, async () => {});
  await withPlatform({ ...settings, PORT: String(await freePort()) }, async () => {});
});

it('names each migration that was new', async () => {
  const url = new URL(await newDatabase());
  const name = `empty_${randomBytes(4).toString('hex')}`;
  await query(url.href, `create database ${name}`);
  const empty = new URL(url);
  empty.pathname = `/${name}`;
  cleanUps.push(() => query(url.href, `drop database ${name} with (force)`));
  expect((await migrate(empty.href)).map((one) => one.name)).toEqual(MIGRATIONS.map((one) => one.name));
  expect(await migrate(empty.href)).toEqual([]);
});

it('has a migration for each change of what is written at every start', () => {
  // Older versions are told by their migrations alone, and would take the newer ones' moves and kinds away. After a
  // change of either, add a migration (an empty one will do) and put its name and the new fingerprint here.
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([STATUS_MOVES, JOURNAL_KINDS]))
    .digest('hex');
  const last = {
    since: '0092_plan_quotas',
    fingerprint: '68365223c76319f2e29a04eb0cc6b0f1a96c754dc8dac6c6381d03f13ed176fc',
  };
  expect(MIGRATIONS.map(({ name }) => name)).toContain(last.since);
  expect(fingerprint).toBe(last.fingerprint);
});
