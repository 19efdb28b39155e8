import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { repositoryDir } from '../git/repository.ts';
import { sendMail } from '../mail/send.ts';
import { aKey, s3Client, s3Url } from '../objects/testing/bucket.ts';
import type { TestApp } from '../testing/app.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { aSchedule } from '../testing/taskFactories.ts';
import { done, openPlaces, query, refusal, rowsOf, type Settings, withPlatform } from './testing/places.ts';
import { type Source, startSource } from './testing/source.ts';

const places = openPlaces();
const place = places.newFolder();
let source: Source;
let hostKey: string;
let server: number;
let schedule: number;
let made: string;
let target: Settings;
let restored: string;

beforeAll(async () => {
  source = await startSource({ isSeeded: true });
  const { app, owner } = source;
  hostKey = readFileSync(join(app.dataDir, 'git-ssh-host-key'), 'utf8');
  await sendMail(app.ctx, app.ctx.db, 'ada@example.com', { subject: 'Code', text: '123456', html: '123456' });
  server = await aRentedInstance(app.ctx, owner);
  await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, metered_until, confirmed)
    values (${owner.workspaceId}, 'instance', ${server}, 'running', 70000, now() - interval '2 hours',
      now() - interval '2 hours', true)`.execute(app.ctx.db);
  schedule = await aSchedule(app.ctx, owner);
  await sql`update task_schedule set next_at = now() - interval '1 hour' where id = ${schedule}`.execute(app.ctx.db);
  made = await done(source.settings, 'backup', place);
  target = await places.newPlace(app.dataDir);
  restored = await done(target, 'restore', place);
});
afterAll(async () => {
  await source?.app.close();
  await places.remove();
});

const refsOf = (dir: string): string => execFileSync('git', ['-C', dir, 'for-each-ref'], { encoding: 'utf8' });

describe('a backup in a folder', () => {
  it('tells its parts, and which key it opens with', () => {
    expect(made).toMatch(/^Database: +1\d\d tables, \d{3,} rows$/m);
    expect(made).toMatch(/^Repositories: +3$/m);
    expect(made).toMatch(/^Objects and files: \d+ \(\d+\.\d MB\), \d+ of them new/m);
    expect(made).toMatch(
      /^It opens with secret key [0-9a-f]{8} alone, which is not in it\. Keep the content of .*secret\.key elsewhere\.$/m,
    );
  });

  it('does not hold the secret key, nor the host key in plain', () => {
    const files = (readdirSync(place, { recursive: true }) as string[]).filter((name) =>
      statSync(join(place, name)).isFile(),
    );
    expect(files.length).toBeGreaterThan(100);
    const key = readFileSync(join(source.app.dataDir, 'secret.key'));
    for (const name of files) {
      const bytes = readFileSync(join(place, name));
      expect(bytes.includes(key), name).toBe(false);
      expect(bytes.includes(hostKey.split('\n')[3]!), name).toBe(false);
    }
  });

  it('is whole by its checksums', async () => {
    expect(await done(source.settings, 'backup', 'verify', place)).toMatch(
      /^Backup \S+ is whole: \d+ parts, .*, all as they were written$/m,
    );
  });
});

describe('a restored platform', () => {
  it('has all rows', async () => {
    const [before, after] = [await rowsOf(source.settings.DATABASE_URL), await rowsOf(target.DATABASE_URL)];
    const changed = Object.keys(before).filter((name) => before[name] !== after[name]);
    // Changed on purpose, or about the place itself.
    expect(changed.sort()).toEqual(['daemon_node', 'installation', 'mail', 'migration', 'quarantine_place', 'session']);
    expect(Object.keys(after)).toEqual(expect.arrayContaining(Object.keys(before)));
    const none = [{ n: 0 }];
    expect(await query(target.DATABASE_URL, 'select count(*)::int as n from mail where failed_at is null')).toEqual(
      none,
    );
    expect(await query(target.DATABASE_URL, 'select count(*)::int as n from session where revoked_at is null')).toEqual(
      none,
    );
  });

  it('has all repositories, and the key by which their clients know it', () => {
    const { project } = source;
    const dir = repositoryDir(readConfig(target), project.dir.slice(-40, -4));
    expect(refsOf(dir)).toBe(refsOf(project.dir));
    expect(refsOf(dir)).toContain('refs/tags/v1');
    execFileSync('git', ['-C', dir, 'fsck', '--strict']);
    expect(readFileSync(join(target.STAGI_DATA, 'git-ssh-host-key'), 'utf8')).toBe(hostKey);
    expect(statSync(join(target.STAGI_DATA, 'git-ssh-host-key')).mode & 0o777).toBe(0o600);
  });

  it('gives nothing the number of something that was made after the backup', async () => {
    const columns = await query<{ table: string; column: string; sequence: string }>(
      target.DATABASE_URL,
      `select c.relname as "table", a.attname as "column", pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attidentity <> ''`,
    );
    expect(columns.length).toBeGreaterThan(20);
    for (const { table, column, sequence } of columns) {
      const [ids] = await query<{ last: string; next: string }>(
        target.DATABASE_URL,
        `select coalesce(max("${column}"), 0)::text as last, nextval('${sequence}')::text as next from "${table}"`,
      );
      expect(Number(ids!.next) - Number(ids!.last), table).toBeGreaterThan(900_000);
    }
    const gens = (url: string) =>
      query<{ gen: number; epoch: number }>(
        url,
        'select desired_gen as gen, conn_epoch as epoch from daemon_node order by instance_id',
      );
    const before = await gens(source.settings.DATABASE_URL);
    expect(before.length).toBeGreaterThan(0);
    expect(await gens(target.DATABASE_URL)).toEqual(
      before.map(({ gen, epoch }) => ({ gen: gen + 1_000_000, epoch: epoch + 1_000_000 })),
    );
  });

  it('is held until its release, which bills and schedules nothing of the time that nobody saw', async () => {
    for (const told of [restored, await done(target, 'release')]) {
      expect(told).toMatch(/^People: \d+, workspaces: \d+, projects: \d+, objects: \d+\.$/m);
      expect(told).toMatch(/^Ledger: \d+ journals verified, no problem\.$/m);
      expect(told).toMatch(/^- Rented servers: \d+ at nowhere\. /m);
    }
    await withPlatform(target, async ({ ctx }) => expect(ctx.heldSince).toBeInstanceOf(Date));
    const [held] = await query<{ restored_from: Date }>(target.DATABASE_URL, 'select restored_from from installation');
    expect(await done(target, 'release', '--yes')).toContain('Released.');
    const segments = await query<{ started_at: Date; ended_at: Date | null; price: bigint }>(
      target.DATABASE_URL,
      `select started_at, ended_at, price from segment where kind = 'instance' and resource_id = ${server} order by id`,
    );
    expect(segments).toEqual([
      { started_at: expect.any(Date), ended_at: held!.restored_from, price: 70_000n },
      { started_at: expect.any(Date), ended_at: null, price: 70_000n },
    ]);
    expect(segments[1]!.started_at.getTime()).toBeGreaterThan(held!.restored_from.getTime());
    expect(
      await query(target.DATABASE_URL, `select next_at > now() as "isLater" from task_schedule where id = ${schedule}`),
    ).toEqual([{ isLater: true }]);
    expect(await done(target, 'release')).toContain('This platform is not held.');
  });

  it('serves the bytes of its objects then', async () => {
    const { app, owner, bucket, content } = source;
    await withPlatform(target, async ({ ctx }) => {
      expect(ctx.heldSince).toBeNull();
      const now = { ...app, ctx } as TestApp;
      const client = s3Client(s3Url(now), await aKey(now, owner, bucket));
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'weights' }));
      expect(Buffer.from(await Body!.transformToByteArray()).equals(content)).toBe(true);
    });
  });
});

it('is not restored where data is, which stays as it is', async () => {
  const { settings } = source;
  const before = await rowsOf(settings.DATABASE_URL);
  const { DATABASE_URL, STAGI_DATA } = await places.newPlace(source.app.dataDir);
  expect(await refusal({ ...settings, STAGI_DATA }, 'restore', place)).toBe(
    'The database is not empty: a backup is restored into an empty one alone.\n',
  );
  expect(await rowsOf(settings.DATABASE_URL)).toEqual(before);
  expect(await refusal({ ...settings, DATABASE_URL }, 'restore', place)).toMatch(/ holds data already: /);
  expect(await query(DATABASE_URL, `select 1 from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([]);
});

it('lets a dump of PostgreSQL be restored, which sets no search path', async () => {
  const call = `set search_path = ''; set stagi.workspace = 'none'; select public.current_workspace()`;
  await expect(query(source.settings.DATABASE_URL, call)).rejects.toThrow('a call that is made in no workspace');
});
