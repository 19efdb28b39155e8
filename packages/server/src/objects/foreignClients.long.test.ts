import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import type { CreatedS3Key } from './keys.ts';
import { aBucket, aKey, s3Client, s3Url, type TestBucket, useOf } from './testing/bucket.ts';

const MiB = 1024 * 1024;
const MANY = 10_000;
const TIMEOUT_MS = 60_000;
/** As a path 1,024 bytes long, of names that a file may have. */
const LONG = ['a', 'b', 'c', 'd']
  .map((letter) => letter.repeat(250))
  .concat('e'.repeat(20))
  .join('/');
const FILES: Record<string, Buffer> = {
  'plain.txt': Buffer.from('0123456789'),
  'with space.txt': Buffer.from('space'),
  'plus+plus.txt': Buffer.from('plus'),
  'per%cent%20.txt': Buffer.from('percent'),
  'юникод-文件-🙂.txt': Buffer.from('unicode'),
  'folder/sub folder/deep.txt': Buffer.from('deep'),
  empty: Buffer.alloc(0),
  'large.bin': randomBytes(12 * MiB),
  [LONG]: Buffer.from('long'),
};

let app: TestApp;
let alice: Person;
let folder: string;
let tree: string;
beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
  folder = mkdtempSync(join(tmpdir(), 'stagi-clients-'));
  tree = join(folder, 'tree');
  for (const [name, body] of Object.entries(FILES)) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    writeFileSync(join(tree, name), body);
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app?.close();
});

/** Why its tests are skipped here; `npm test` installs it where it may (`scripts/packages.ts`). */
const missing = (path: string): boolean => {
  const isMissing = !existsSync(path);
  if (isMissing) console.log(`skipped: ${path} is not installed here`);
  return isMissing;
};

async function opened(): Promise<{ bucket: TestBucket; key: CreatedS3Key }> {
  const bucket = await aBucket(app, alice);
  return { bucket, key: await aKey(app, alice, bucket) };
}

/** A program of the distribution, with nothing of the settings of whoever runs the tests. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    env: { PATH: '/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8', ...env },
    maxBuffer: 64 * MiB,
  });
  return stdout;
}

const aws = ({ accessKeyId, secretAccessKey }: CreatedS3Key): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
});

function expectTree(path: string): void {
  const found = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(found).toHaveLength(Object.keys(FILES).length);
  for (const [name, body] of Object.entries(FILES)) expect(readFileSync(join(path, name)).equals(body)).toBe(true);
}

/** Empty objects, as rows: this is about listing and deleting them. */
async function manyObjects(bucket: TestBucket): Promise<void> {
  await sql`with made as (
      insert into s3_object (bucket_id, key, size, etag, headers, blobs, blob_sizes)
      select ${bucket.id}, convert_to('many/' || lpad(n::text, 6, '0') || ' +é', 'UTF8'), 0,
        'd41d8cd98f00b204e9800998ecf8427e', '{"content-type": "text/plain"}', '{}', '{}'
      from generate_series(1, ${MANY}::int) n)
    update s3_bucket set object_count = object_count + ${MANY}, used_bytes = used_bytes + ${MANY * 8_192} where id = ${bucket.id}`.execute(
    app.ctx.db,
  );
}

const isEmpty = (bucket: TestBucket) => expect(useOf(app, bucket)).resolves.toEqual({ bytes: 0, objects: 0 });

// Each of its processes takes a second of processor time to start.
describe.skipIf(missing('/usr/bin/aws'))('the AWS CLI', { timeout: TIMEOUT_MS }, () => {
  const awsOf =
    (key: CreatedS3Key) =>
    (...args: string[]) =>
      run('/usr/bin/aws', ['--endpoint-url', s3Url(app), ...args], aws(key));

  it('syncs both ways, and deletes', async () => {
    const { bucket, key } = await opened();
    const call = awsOf(key);
    await call('s3', 'sync', '--quiet', tree, `s3://${bucket.name}/`);
    expect((await useOf(app, bucket)).objects).toBe(Object.keys(FILES).length);
    await call('s3', 'sync', '--quiet', `s3://${bucket.name}/`, join(folder, 'by-aws'));
    expectTree(join(folder, 'by-aws'));
    expect(await call('s3', 'sync', tree, `s3://${bucket.name}/`)).toBe('');
    await call('s3', 'rm', '--quiet', '--recursive', `s3://${bucket.name}/`);
    await isEmpty(bucket);
  });

  it('presigns, copies, reads ranges and lists', async () => {
    const { bucket, key } = await opened();
    const call = awsOf(key);
    const client = s3Client(s3Url(app), key);
    for (const Key of ['per%cent%20.txt', 'large.bin'])
      await client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body: FILES[Key] }));
    const link = (await call('s3', 'presign', `s3://${bucket.name}/per%cent%20.txt`)).trim();
    expect(await (await fetch(link)).text()).toBe('percent');
    await call('s3', 'cp', '--quiet', `s3://${bucket.name}/large.bin`, `s3://${bucket.name}/copy + ü`);
    const into = join(folder, 'range');
    const range = ['--bucket', bucket.name, '--key', 'copy + ü', '--range', `bytes=${8 * MiB - 5}-${8 * MiB + 4}`];
    await call('s3api', 'get-object', ...range, into);
    expect(readFileSync(into)).toEqual(FILES['large.bin']!.subarray(8 * MiB - 5, 8 * MiB + 5));
    await manyObjects(bucket);
    const query = ['--bucket', bucket.name, '--query', 'length(Contents)'];
    expect(await call('s3api', 'list-objects-v2', ...query)).toBe(`${MANY + 3}\n`);
  });
});

describe.skipIf(missing('/usr/bin/rclone'))('rclone', { timeout: TIMEOUT_MS }, () => {
  it('syncs both ways, checks, links, copies, reads ranges, lists and deletes', async () => {
    const { bucket, key } = await opened();
    const env = {
      RCLONE_CONFIG_ST_TYPE: 's3',
      RCLONE_CONFIG_ST_PROVIDER: 'Other',
      RCLONE_CONFIG_ST_ENDPOINT: s3Url(app),
      RCLONE_CONFIG_ST_ACCESS_KEY_ID: key.accessKeyId,
      RCLONE_CONFIG_ST_SECRET_ACCESS_KEY: key.secretAccessKey,
      RCLONE_CONFIG_ST_UPLOAD_CUTOFF: '5Mi',
      RCLONE_CONFIG_ST_CHUNK_SIZE: '5Mi',
    };
    const call = (...args: string[]) => run('/usr/bin/rclone', args, env);
    const remote = `st:${bucket.name}`;
    await call('sync', tree, remote);
    await call('check', '--download', tree, remote);
    await call('sync', remote, join(folder, 'by-rclone'));
    expectTree(join(folder, 'by-rclone'));
    const link = (await call('link', '--expire', '1h', `${remote}/plus+plus.txt`)).trim();
    expect(await (await fetch(link)).text()).toBe('plus');
    await call('copyto', `${remote}/large.bin`, `${remote}/copies/large + ü.bin`);
    expect(await call('cat', '--offset', '2', '--count', '5', `${remote}/plain.txt`)).toBe('23456');
    await call('delete', remote);
    await isEmpty(bucket);
    await manyObjects(bucket);
    expect((await call('lsf', '-R', '--files-only', remote)).trimEnd().split('\n')).toHaveLength(MANY);
  });
});

describe.skipIf(missing('/usr/bin/s3cmd'))('s3cmd', { timeout: TIMEOUT_MS }, () => {
  it('syncs both ways, goes on with a download, copies, lists and deletes', async () => {
    const { bucket, key } = await opened();
    const { host } = new URL(s3Url(app));
    const config = join(folder, 's3cfg');
    const settings = {
      access_key: key.accessKeyId,
      secret_key: key.secretAccessKey,
      host_base: host,
      host_bucket: host,
    };
    writeFileSync(
      config,
      ['[default]', 'use_https = False', ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`)].join(
        '\n',
      ),
    );
    const call = (...args: string[]) =>
      run('/usr/bin/s3cmd', ['--config', config, '--no-progress', '--multipart-chunk-size-mb=5', ...args]);
    const remote = `s3://${bucket.name}/`;
    await call('sync', `${tree}/`, remote);
    await call('sync', remote, `${join(folder, 'by-s3cmd')}/`);
    expectTree(join(folder, 'by-s3cmd'));
    const half = join(folder, 'half.bin');
    writeFileSync(half, FILES['large.bin']!.subarray(0, 7 * MiB));
    await call('get', '--continue', `${remote}large.bin`, half);
    expect(readFileSync(half).equals(FILES['large.bin']!)).toBe(true);
    await call('cp', `${remote}with space.txt`, `${remote}copy + ü.txt`);
    await call('del', '--recursive', '--force', remote);
    await isEmpty(bucket);
    await manyObjects(bucket);
    expect((await call('ls', '--recursive', remote)).trimEnd().split('\n')).toHaveLength(MANY);
  });
});

describe.skipIf(missing('/usr/lib/python3/dist-packages/boto3'))('boto3', { timeout: TIMEOUT_MS }, () => {
  it('puts, uploads in parts, copies, presigns, tags, lists by pages and deletes in batches', async () => {
    const { bucket, key } = await opened();
    const many = await aBucket(app, alice);
    await manyObjects(many);
    // One key opens one bucket, so the other one has its own.
    const script = join(import.meta.dirname, 'testing/boto3Client.py');
    const env = { ...aws(key), ENDPOINT: s3Url(app), BUCKET: bucket.name };
    expect(await run('/usr/bin/python3', [script, 'objects'], env)).toBe('OK\n');
    await isEmpty(bucket);
    const other = { ...aws(await aKey(app, alice, many)), ENDPOINT: s3Url(app), BUCKET: many.name };
    expect(await run('/usr/bin/python3', [script, 'pages'], other)).toBe('OK\n');
    await isEmpty(many);
  });
});

describe('@aws-sdk/client-s3', { timeout: TIMEOUT_MS }, () => {
  it('puts any name, copies, lists 10,000 objects by pages and deletes them', async () => {
    const { bucket, key } = await opened();
    const client = s3Client(s3Url(app), key);
    const Bucket = bucket.name;
    const names = [...Object.keys(FILES), 'k'.repeat(1_024), 'a//b', '../up', './here', `<&"'>`, '*!()~'];
    for (const Key of names) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      expect(await Body!.transformToString()).toBe(Key);
    }
    const CopySource = encodeURIComponent(`${Bucket}/юникод-文件-🙂.txt`);
    await client.send(new CopyObjectCommand({ Bucket, Key: 'many/copy', CopySource }));
    await manyObjects(bucket);
    const listed: string[] = [];
    for await (const { Contents = [] } of paginateListObjectsV2({ client, pageSize: 900 }, { Bucket }))
      listed.push(...Contents.map((object) => object.Key!));
    expect(listed).toHaveLength(MANY + names.length + 1);
    expect(listed).toEqual(listed.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    for (let at = 0; at < listed.length; at += 1_000) {
      const Objects = listed.slice(at, at + 1_000).map((Key) => ({ Key }));
      const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
      expect(Errors).toBeUndefined();
    }
    for await (const { KeyCount } of paginateListObjectsV2({ client }, { Bucket })) expect(KeyCount).toBe(0);
  });
});
