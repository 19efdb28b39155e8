import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { beginBackup } from '../testing/runningBackup.ts';
import { blobName } from './blobs.ts';
import { closeBucket, emptyBucket, resizeBucket } from './buckets.ts';
import { removePlatformObjects, writePlatformObject } from './platformObjects.ts';
import { removeDoomed } from './removal.ts';
import { aBucket, aKey, blobsOf, counted, s3Client, s3Url, type TestBucket, useOf } from './testing/bucket.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
});
afterAll(() => app.close());

async function opened(given: Parameters<typeof aBucket>[2] = {}) {
  const bucket = await aBucket(app, alice, given);
  const client = s3Client(s3Url(app), await aKey(app, alice, bucket));
  return { bucket, client, ...shortcuts(client, bucket) };
}

function shortcuts(client: S3Client, { name: Bucket }: TestBucket) {
  return {
    put: (Key: string, Body: Uint8Array, more: object = {}) =>
      client.send(new PutObjectCommand({ Bucket, Key, Body, ...more })),
    async get(Key: string, Range?: string): Promise<Buffer> {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
      return buffer(Body as Readable);
    },
    delete: (Key: string) => client.send(new DeleteObjectCommand({ Bucket, Key })),
    async keys(): Promise<string[]> {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
      return Contents.map(({ Key }) => Key!);
    },
  };
}

const MiB = 1024 * 1024;
const noBlobsBut = (bucket: TestBucket, stored: number) =>
  expect.poll(() => blobsOf(app, bucket)).toEqual(stored === 0 ? {} : { stored });

it('keeps objects and counts exactly what they take', async () => {
  const { bucket, put, get, keys, ...s3 } = await opened();
  const bytes = randomBytes(3 * MiB + 1);
  await put('a/large', bytes, { Metadata: { of: 'alice' }, ContentType: 'text/x-test' });
  await put('empty', Buffer.alloc(0));
  expect(await useOf(app, bucket)).toEqual({
    bytes: counted(bytes.length, 'a/large', 'of', 'alice') + counted(0),
    objects: 2,
  });
  expect(await get('a/large')).toEqual(bytes);
  expect(await get('a/large', 'bytes=1000000-2000000')).toEqual(bytes.subarray(1_000_000, 2_000_001));
  expect(await get('empty')).toHaveLength(0);
  await put('a/large', randomBytes(100));
  expect(await useOf(app, bucket)).toEqual({ bytes: 2 * counted(0), objects: 2 });
  await s3.delete('a/large');
  await s3.delete('a/large');
  expect(await useOf(app, bucket)).toEqual({ bytes: counted(0), objects: 1 });
  expect(await keys()).toEqual(['empty']);
  await noBlobsBut(bucket, 1);
});

it('makes one object of the parts of an upload, which count from the moment they are stored', async () => {
  const { bucket, client, get } = await opened();
  const target = { Bucket: bucket.name, Key: 'parts' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...target, ContentType: 'text/x-test' }));
  const bodies = [randomBytes(5 * MiB), randomBytes(5 * MiB + 7), randomBytes(10)];
  const etags: string[] = [];
  for (const [index, Body] of bodies.entries()) {
    const part = new UploadPartCommand({ ...target, UploadId, PartNumber: index + 1, Body });
    etags.push((await client.send(part)).ETag!);
  }
  // In place of itself: the older bytes no longer count.
  await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 2, Body: bodies[1] }));
  expect(await useOf(app, bucket)).toEqual({
    bytes: counted(0) + 2 * 5 * MiB + 7 + counted(10),
    objects: 0,
  });
  const complete = () =>
    client.send(
      new CompleteMultipartUploadCommand({
        ...target,
        UploadId,
        MultipartUpload: { Parts: [0, 1].map((index) => ({ PartNumber: index + 1, ETag: etags[index] })) },
      }),
    );
  // Twice at once, as a client does that lost the first answer.
  const answers = await Promise.all([complete(), complete()]);
  expect(new Set(answers.map(({ ETag }) => ETag)).size).toBe(1);
  const whole = Buffer.concat(bodies.slice(0, 2));
  expect(await useOf(app, bucket)).toEqual({ bytes: counted(whole.length, 'parts'), objects: 1 });
  expect(await get('parts')).toEqual(whole);
  const edge = 5 * MiB;
  expect(await get('parts', `bytes=${edge - 10}-${edge + 10}`)).toEqual(whole.subarray(edge - 10, edge + 11));
  await noBlobsBut(bucket, 2);
});

it('keeps the bytes of a deleted object while a backup runs', async () => {
  const { bucket, put, delete: remove } = await opened();
  await put('kept', Buffer.from('kept'));
  const { rows } = await sql<{ id: string }>`select id from s3_blob where bucket_id = ${bucket.id}`.execute(app.ctx.db);
  const backup = await beginBackup(app.databaseUrl);
  try {
    await remove('kept');
    expect(await blobsOf(app, bucket)).toEqual({ doomed: 1 });
    await removeDoomed(app.ctx);
    expect(await blobsOf(app, bucket)).toEqual({ doomed: 1 });
    expect(await app.ctx.blobs.get('local')!.head(blobName(rows[0]!.id))).not.toBeNull();
  } finally {
    await backup.end();
  }
  await noBlobsBut(bucket, 0);
  expect(await app.ctx.blobs.get('local')!.head(blobName(rows[0]!.id))).toBeNull();
});

it('frees what an aborted upload took', async () => {
  const { bucket, client } = await opened();
  const target = { Bucket: bucket.name, Key: 'given-up' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: randomBytes(MiB) }));
  expect(await useOf(app, bucket)).toEqual({ bytes: counted(0) + MiB, objects: 0 });
  await client.send(new AbortMultipartUploadCommand({ ...target, UploadId }));
  expect(await useOf(app, bucket)).toEqual({ bytes: 0, objects: 0 });
  await noBlobsBut(bucket, 0);
});

describe('the quota', () => {
  it('is never exceeded by puts and parts that race for the last bytes', async () => {
    const size = 64 * 1024;
    const fits = 10;
    const { bucket, client, put, keys } = await opened({ quotaBytes: BigInt(size * fits + size / 2) });
    const ofUpload = counted(0);
    const target = { Bucket: bucket.name, Key: 'upload' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    const used: number[] = [];
    let racing = true;
    const watch = (async () => {
      while (racing) used.push((await useOf(app, bucket)).bytes);
    })();
    const n = 40;
    const results = await Promise.allSettled(
      Array.from({ length: n }, (_, index) =>
        index % 4 === 0
          ? client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: index + 1, Body: randomBytes(size) }))
          : put(`object-${index}`, randomBytes(size)),
      ),
    );
    racing = false;
    await watch;
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.name);
    console.log(`quota race: n = ${n} writers, ${n - refused.length} fitted, looked ${used.length} times`);
    expect(n - refused.length).toBe(fits);
    expect(new Set(refused)).toEqual(new Set(['QuotaExceeded']));
    expect(Math.max(...used)).toBeLessThanOrEqual(ofUpload + (size + 'object-39'.length) * fits);
    const { bytes } = await useOf(app, bucket);
    expect(bytes).toBeGreaterThanOrEqual(ofUpload + size * fits);
    await noBlobsBut(bucket, fits);
    expect((await keys()).length).toBeLessThanOrEqual(fits);
  });

  it('refuses by the announced length, before it reads', async () => {
    const { bucket, client } = await opened({ quotaBytes: 1_000n });
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        read += 1;
        yield Buffer.alloc(65_536);
      }
    }
    const put = new PutObjectCommand({
      Bucket: bucket.name,
      Key: 'too-large',
      Body: Readable.from(endless(), { objectMode: false }),
      ContentLength: 1_000_000_000,
    });
    await expect(client.send(put)).rejects.toThrow();
    expect(read * 65_536).toBeLessThan(100_000_000);
    expect(await blobsOf(app, bucket)).toEqual({});
  });

  it('cannot shrink below what is held, and lets smaller objects replace larger ones', async () => {
    const { bucket, put } = await opened({ quotaBytes: 10_004n });
    await put('full', randomBytes(10_000));
    expect(await resizeBucket(app.ctx.db, bucket.id, 10_003n)).toBe(false);
    await put('full', Buffer.alloc(0));
    await expect(put('one-more', Buffer.alloc(1))).rejects.toMatchObject({ name: 'QuotaExceeded' });
    expect(await resizeBucket(app.ctx.db, bucket.id, 16_384n)).toBe(true);
    await put('one-more', Buffer.alloc(1));
    expect(await useOf(app, bucket)).toEqual({ bytes: 16_384, objects: 2 });
  });
});

describe('writers of one key', () => {
  it('all succeed, one after the other, and only the last one’s bytes stay', async () => {
    const { bucket, put, get } = await opened();
    const bodies = Array.from({ length: 30 }, (_, index) => randomBytes(10_000 + index));
    await Promise.all(bodies.map((body) => put('contended', body)));
    const last = await get('contended');
    expect(bodies.some((body) => body.equals(last))).toBe(true);
    expect(await useOf(app, bucket)).toEqual({ bytes: counted(last.length, 'contended'), objects: 1 });
    await noBlobsBut(bucket, 1);
  });

  it('are told apart by If-None-Match and If-Match', async () => {
    const { bucket, put } = await opened();
    const first = await Promise.allSettled(
      Array.from({ length: 12 }, () => put('only-once', randomBytes(1_000), { IfNoneMatch: '*' })),
    );
    const made = first.filter((result) => result.status === 'fulfilled');
    expect(made).toHaveLength(1);
    for (const result of first)
      if (result.status === 'rejected')
        expect(['PreconditionFailed', 'ConditionalRequestConflict']).toContain(result.reason.name);
    const etag = made[0]!.value.ETag!;
    const second = await Promise.allSettled(
      Array.from({ length: 12 }, () => put('only-once', randomBytes(2_000), { IfMatch: etag })),
    );
    expect(second.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    await expect(put('not-here', randomBytes(1), { IfMatch: etag })).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(await useOf(app, bucket)).toEqual({ bytes: counted(2_000), objects: 1 });
    await noBlobsBut(bucket, 1);
  });
});

it('gives a reader the bytes that it began with, or cuts it off, while the object is replaced', async () => {
  const { bucket, client, put } = await opened();
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  // Far more than the sockets between hold: a read is under way when its object is replaced.
  const versions = Array.from({ length: 4 }, () => randomBytes(16 * MiB));
  const hashes = versions.map(hash);
  await put('replaced', versions[0]!);
  const read = async (): Promise<'whole' | 'cut'> => {
    const { Body, ETag } = await client.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'replaced' }));
    const md5 = ETag!.replaceAll('"', '');
    try {
      const found = await buffer(Body as Readable);
      expect(createHash('md5').update(found).digest('hex')).toBe(md5);
      expect(hashes).toContain(hash(found));
      return 'whole';
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ECONNRESET');
      return 'cut';
    }
  };
  const reads: Promise<'whole' | 'cut'>[] = [];
  for (const version of versions.slice(1)) {
    reads.push(read(), read(), read());
    await put('replaced', version);
  }
  const ends = await Promise.all(reads);
  console.log(`replaced during a read: n = ${ends.length}, cut off ${ends.filter((end) => end === 'cut').length}`);
  await noBlobsBut(bucket, 1);
});

it('refuses people’s writes to a bucket of the platform, which writes itself over any quota', async () => {
  const { bucket, client, put, get, keys, ...s3 } = await opened({ isPlatforms: true, quotaBytes: 10n });
  const write = (key: string, text: string) =>
    writePlatformObject(app.ctx, bucket.id, key, Readable.from([Buffer.from(text)]), { contentType: 'text/plain' });
  expect(await write('log/1', 'first chunk')).toEqual({ size: 11 });
  await write('log/1', 'first chunk again');
  await write('log/2', 'second chunk');
  expect((await get('log/1')).toString()).toBe('first chunk again');
  expect(await useOf(app, bucket)).toEqual({ bytes: 29, objects: 2 });
  await expect(put('mine', Buffer.from('x'))).rejects.toMatchObject({ name: 'AccessDenied' });
  await expect(s3.delete('log/1')).rejects.toMatchObject({ name: 'AccessDenied' });
  await expect(
    client.send(new CreateMultipartUploadCommand({ Bucket: bucket.name, Key: 'mine' })),
  ).rejects.toMatchObject({ name: 'AccessDenied' });
  await removePlatformObjects(app.ctx, bucket.id, ['log/1', 'not-here']);
  expect(await keys()).toEqual(['log/2']);
  await noBlobsBut(bucket, 1);
});

it('is read-only at a balance of zero', async () => {
  const { put, get, ...s3 } = await opened();
  await put('kept', Buffer.from('kept'));
  const exhaust = (at: string | null) =>
    sql`update workspace set exhausted_at = ${at}::timestamptz where id = ${alice.workspaceId}`.execute(app.ctx.db);
  // For less than 14 days, after which the platform deletes its storages.
  await exhaust(new Date().toISOString());
  try {
    await expect(put('new', Buffer.from('new'))).rejects.toMatchObject({
      name: 'AccessDenied',
      message: 'The balance is zero: this bucket is read-only until a deposit.',
    });
    await expect(s3.delete('kept')).rejects.toMatchObject({ name: 'AccessDenied' });
    expect((await get('kept')).toString()).toBe('kept');
  } finally {
    await exhaust(null);
  }
  await s3.delete('kept');
});

it('empties a closed bucket, which nobody can read any more', async () => {
  const { bucket, client, put, get } = await opened();
  const target = { Bucket: bucket.name, Key: 'open-upload' };
  for (let index = 0; index < 5; index += 1) await put(`object-${index}`, randomBytes(100));
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: randomBytes(100) }));
  await closeBucket(app.ctx.db, bucket.id);
  await expect(get('object-0')).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  const other = await aBucket(app, alice, { name: bucket.name });
  expect(other.id).not.toBe(bucket.id);
  await expect.poll(() => emptyBucket(app.ctx, bucket.id)).toBe(true);
  expect(await useOf(app, bucket)).toEqual({ bytes: 0, objects: 0 });
  await noBlobsBut(bucket, 0);
});

it('lets an operator’s key make and delete buckets, and no other key', async () => {
  const owner = { purpose: 'admin', workspaceId: null, bucketId: null, madeBy: null, adminOwner: 'suite' } as const;
  const { bucket, client: people } = await opened();
  const client = s3Client(s3Url(app), await aKey(app, alice, bucket, owner));
  const Bucket = `admin-${bucket.name}`;
  await client.send(new CreateBucketCommand({ Bucket }));
  await expect(client.send(new CreateBucketCommand({ Bucket: bucket.name }))).rejects.toMatchObject({
    name: 'BucketAlreadyExists',
  });
  await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'a' }));
  await expect(client.send(new DeleteBucketCommand({ Bucket }))).rejects.toMatchObject({ name: 'BucketNotEmpty' });
  await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'a' }, { Key: 'b' }] } }));
  await client.send(new DeleteBucketCommand({ Bucket }));
  await expect(people.send(new CreateBucketCommand({ Bucket }))).rejects.toMatchObject({ name: 'AccessDenied' });
  await expect(people.send(new DeleteBucketCommand({ Bucket: bucket.name }))).rejects.toMatchObject({
    name: 'AccessDenied',
  });
  // A key of the operator opens none of the workspaces' buckets.
  await expect(client.send(new ListObjectsV2Command({ Bucket: bucket.name }))).rejects.toMatchObject({
    name: 'AccessDenied',
  });
});
