import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeBackupLock } from '../db/backupLock.ts';
import { aBucket, aKey, s3Client, s3Url, type TestBucket } from '../objects/testing/bucket.ts';
import type { TestApp } from '../testing/app.ts';
import { runOperator } from '../testing/operator.ts';
import { httpSender, PASSWORD, type Person, signUp, tokensOf } from '../testing/person.ts';
import { spawnPlatform } from '../testing/platform.ts';
import { done, openPlaces, query, refusal, type Settings, withPlatform } from './testing/places.ts';
import { startSource } from './testing/source.ts';

const places = openPlaces();
let app: TestApp;
let owner: Person;
let bucket: TestBucket;
let content: Buffer;
let source: Settings;
beforeAll(async () => {
  ({ app, owner, bucket, content, settings: source } = await startSource());
});
afterAll(async () => {
  await app?.close();
  await places.remove();
});

it('lies in S3 as in a folder', async () => {
  const store = await aBucket(app, owner);
  const key = await aKey(app, owner, store);
  const place = `s3://${store.name}/nightly`;
  const withKey = {
    AWS_ENDPOINT_URL: s3Url(app),
    AWS_ACCESS_KEY_ID: key.accessKeyId,
    AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
  };
  await done({ ...source, ...withKey }, 'backup', place);
  expect(await done({ ...source, ...withKey }, 'backup', 'verify', place)).toContain('is whole');
  expect(await done({ ...(await places.newPlace(app.dataDir)), ...withKey }, 'restore', place)).toContain(
    'The platform is held',
  );
  expect(await refusal({ ...source, ...withKey, AWS_ACCESS_KEY_ID: '' }, 'backup', place)).toMatch(
    /^AWS_ACCESS_KEY_ID is missing: /,
  );
  expect(await refusal({ ...source, ...withKey }, 'backup', 's3://Not_A_Bucket')).toMatch(
    /^Not a place for backups: s3:\/\/Not_A_Bucket\. /,
  );
});

it('moves a platform from the embedded database to a real one while it runs, and to another embedded one', async () => {
  const platform = await spawnPlatform({ LOG_LEVEL: 'fatal' });
  try {
    const email = 'grace@example.com';
    const person = await signUp(platform.url, httpSender(platform.url), { name: 'Grace', email });
    const { entity } = await person.client(api.projects.create, { title: 'Compilers', slug: 'compilers' });
    await expect
      .poll(async () => (await person.client(api.projects.view, { id: entity.id })).entity.status)
      .toBe('active');
    const settings = {
      DATABASE_URL: '',
      STAGI_DATA: platform.dataDir,
      STAGI_ENVIRONMENT: 'test',
      PORT: new URL(platform.url).port,
      LOCAL_CLOUD: 'off',
    };
    const place = places.newFolder();
    await done(settings, 'backup', place);
    const target = await places.newPlace(platform.dataDir);
    expect(await done(target, 'restore', place)).toContain('The platform is held');
    await done(target, 'release', '--yes');
    await withPlatform(target, async ({ ctx }) => {
      let tokens: Tokens | null = null;
      const client = createClient({
        send: httpSender(`http://127.0.0.1:${ctx.config.port}`),
        session: { get: () => tokens, set: (next) => (tokens = next) },
        clientId: () => person.workspaceId,
      });
      tokens = tokensOf(await client(api.auth.authentication, { email, password: PASSWORD }));
      const { entities } = await client(api.projects.list, {});
      expect(entities.map(({ slug, status }) => [slug, status])).toEqual([['compilers', 'active']]);
    });
    const embedded = { ...(await places.newPlace(platform.dataDir)), DATABASE_URL: '' };
    expect(await done(embedded, 'restore', place)).toContain('The platform is held');
    expect(await done(embedded, 'release', '--yes')).toContain('Released.');
    await withPlatform(embedded, async ({ ctx }) => expect(ctx.heldSince).toBeNull());
  } finally {
    await platform.remove();
  }
});

it('needs no superuser, and refuses a user to whom rows are hidden', async () => {
  const name = `stagi_owner_${randomBytes(5).toString('hex')}`;
  const stranger = `${name}_other`;
  const admin = new pg.Client({ connectionString: app.databaseUrl });
  await admin.connect();
  try {
    await admin.query(`create role ${name} login`);
    await admin.query(`create role ${stranger} login`);
    await admin.query(`grant stagi_member to ${name} with inherit false`);
    await admin.query(`create database ${name} owner ${name}`);
    // Other ways of writing and reading values than at the source, as a server may be set up.
    await admin.query(`alter database ${name} set datestyle = 'SQL, DMY'`);
    await admin.query(`alter database ${name} set timezone = 'Asia/Kolkata'`);
    await admin.query(`alter database ${name} set extra_float_digits = -5`);
    const place = places.newFolder();
    await done(source, 'backup', place);
    const owned = new URL(app.databaseUrl);
    owned.username = name;
    owned.pathname = `/${name}`;
    const target = { ...(await places.newPlace(app.dataDir)), DATABASE_URL: owned.href };
    expect(await done(target, 'restore', place)).toContain('no problem');
    const people = `select json_agg(extract(epoch from created_at)::text order by id) as at from app_user`;
    expect(await query(owned.href, people)).toEqual(await query(app.databaseUrl, people));
    await done(target, 'release', '--yes');
    await withPlatform(target, async () => {});
    const second = places.newFolder();
    await done(target, 'backup', second);
    expect(await done(target, 'backup', 'verify', second)).toContain('is whole');

    const owner = new pg.Client({ connectionString: owned.href });
    await owner.connect();
    await owner.query(`grant select on all tables in schema public to ${stranger}`);
    await owner.end();
    owned.username = stranger;
    expect(await refusal({ ...target, DATABASE_URL: owned.href }, 'backup', places.newFolder())).toMatch(
      /^The user of DATABASE_URL does not see all rows of \w+/,
    );
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`drop role if exists ${name}, ${stranger}`);
    await admin.end();
  }
});

describe('a restore', () => {
  const place = places.newFolder();
  beforeAll(() => done(source, 'backup', place));

  it('is refused without the secret key, or with another', async () => {
    expect(await refusal(await places.newPlace(), 'restore', place)).toMatch(
      /^The secrets in the backup are sealed with key [0-9a-f]{8}, and this place has no key\. Set STAGI_SECRET_KEY /,
    );
    const STAGI_SECRET_KEY = randomBytes(32).toString('base64');
    expect(await refusal({ ...(await places.newPlace()), STAGI_SECRET_KEY }, 'restore', place)).toMatch(
      /and this place has key [0-9a-f]{8}\. Set STAGI_SECRET_KEY /,
    );
  });

  it('is refused for a backup of a newer version, and for one that is not there', async () => {
    const newer = places.newFolder();
    cpSync(place, newer, { recursive: true });
    const manifest = (readdirSync(newer, { recursive: true }) as string[]).find((name) => name.endsWith('/manifest'))!;
    const text = readFileSync(join(newer, manifest), 'utf8');
    writeFileSync(join(newer, manifest), text.replace('"migrations": [', '"migrations": [\n"9999_newer",'));
    expect(await refusal(await places.newPlace(app.dataDir), 'restore', newer)).toMatch(
      /newer version than \d+\.\d+\.\d+ \(9999_newer\)/,
    );
    expect(await refusal(await places.newPlace(app.dataDir), 'restore', place, '--name', '2020-01-01-00-00-00')).toBe(
      'There is no whole backup 2020-01-01-00-00-00.\n',
    );
    expect(await refusal(await places.newPlace(app.dataDir), 'restore', places.newFolder())).toMatch(
      /^There is no whole backup in /,
    );
  });

  it('tells which part is damaged or gone, and restores no damaged rows', async () => {
    const damaged = places.newFolder();
    cpSync(place, damaged, { recursive: true });
    const files = (readdirSync(damaged, { recursive: true }) as string[]).sort();
    const users = files.find((name) => name.endsWith('/app-user'))!;
    const bytes = readFileSync(join(damaged, users));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(join(damaged, users), bytes);
    rmSync(join(damaged, files.find((name) => /^objects\/_.*\/.{36}$/.test(name))!));
    const told = await refusal(source, 'backup', 'verify', damaged);
    expect(told).toMatch(/^backups\/\S+\/tables\/app-user is damaged: /m);
    expect(told).toMatch(/^objects\/\S+ is missing\.$/m);
    expect(told).toMatch(/^Backup \S+: 2 of \d+ parts are damaged or missing$/m);
    expect(await refusal(await places.newPlace(app.dataDir), 'restore', damaged)).toMatch(/app-user is damaged/);
  });

  it('is refused where the list of its objects is damaged, which does not stop the next backup', async () => {
    const damaged = places.newFolder();
    cpSync(place, damaged, { recursive: true });
    const list = (readdirSync(damaged, { recursive: true }) as string[]).find((name) => name.endsWith('/blobs'))!;
    const bytes = readFileSync(join(damaged, list));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(join(damaged, list), bytes);
    for (const told of [
      await refusal(source, 'backup', 'verify', damaged),
      await refusal(await places.newPlace(app.dataDir), 'restore', damaged),
    ])
      expect(told).toMatch(/^backups\/\S+\/blobs is damaged: /m);
    expect(await done(source, 'backup', damaged)).toMatch(/^Objects and files: (\d+) \(\S+ MB\), \1 of them new/m);
    expect(await done(source, 'backup', 'verify', damaged)).toContain('is whole');
  });

  it('that was broken off is refused by a start, and ended by the same command', async () => {
    const target = await places.newPlace(app.dataDir);
    const broken = places.newFolder();
    cpSync(place, broken, { recursive: true });
    const users = (readdirSync(broken, { recursive: true }) as string[]).find((name) => name.endsWith('/app-user'))!;
    rmSync(join(broken, users));
    const [name = ''] = /\S+/.exec(await done(source, 'backup', 'list', broken)) ?? [];
    expect((await runOperator(target, 'restore', broken)).code).toBe(1);
    await expect(withPlatform(target, async () => {})).rejects.toThrow(
      new RegExp(`^STAGI_DATA .* holds a part of the backup ${name}, whose restore did not end: run the same`),
    );
    expect(await done(target, 'restore', place)).toContain(`Restored backup ${name} of `);
    await withPlatform(target, async ({ ctx }) => expect(ctx.heldSince).toBeInstanceOf(Date));
  });
});

describe('backups of one place', () => {
  it('copy what is new alone, and make room for newer ones', async () => {
    const place = places.newFolder();
    await done(source, 'backup', place);
    expect(await done(source, 'backup', place)).toMatch(/^Objects and files: \d+ \(\d+\.\d MB\), 0 of them new/m);
    const client = s3Client(s3Url(app), await aKey(app, owner, bucket));
    await client.send(new PutObjectCommand({ Bucket: bucket.name, Key: 'weights', Body: randomBytes(1_000) }));
    expect(await done(source, 'backup', place, '--keep', '1')).toMatch(/^Removed: +\S+, \S+$/m);
    const left = await done(source, 'backup', 'list', place);
    expect(left.trim().split('\n')).toHaveLength(1);
    expect(left).toMatch(
      /^\S+ +of \S+, version \d+\.\d+\.\d+: \d+ rows, 2 repositories, \d+ objects and files \(0\.\d MB\)$/m,
    );
    expect(await done(source, 'backup', 'verify', place)).toContain('is whole');
    await client.send(new PutObjectCommand({ Bucket: bucket.name, Key: 'weights', Body: content }));
  });

  it('are refused in a sentence where nothing can be written', async () => {
    const file = join(places.newFolder(), 'a-file');
    writeFileSync(file, '');
    expect(await refusal(source, 'backup', join(file, 'place'))).toMatch(/^ENOTDIR: [^\n]*\n$/);
  });

  it('are made one at a time, of one platform', async () => {
    const place = places.newFolder();
    await done(source, 'backup', place);
    const client = new pg.Client({ connectionString: source.DATABASE_URL });
    await client.connect();
    try {
      expect(await takeBackupLock(client)).toBe(true);
      expect(await refusal(source, 'backup', place)).toBe('Another backup of this platform runs.\n');
    } finally {
      await client.end();
    }
    const other = await places.newPlace();
    await withPlatform(other, async () => {});
    expect(await refusal(other, 'backup', place)).toBe(
      'The backups there are of another platform: name a place of its own.\n',
    );
  });
});
