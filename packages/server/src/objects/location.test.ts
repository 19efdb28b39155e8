import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { belongsToUs } from '../quarantine/belongsToUs.ts';
import { approveRemoval } from '../quarantine/review.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { blobName } from './blobs.ts';
import { probeLocation } from './buckets.ts';
import { repairObjects } from './repair.ts';
import { aBucket, aKey, blobsOf, counted, s3Client, s3Url, type TestBucket, useOf } from './testing/bucket.ts';

const MiB = 1024 * 1024;
/** Bytes are removed in the background. */
const REMOVED = { timeout: 60_000 };

/** The bytes of `near` lie in a bucket of `far`, a second copy of the platform. */
let far: TestApp;
let farBucket: TestBucket;
let near: TestApp;

beforeAll(async () => {
  far = await startTestApp();
  const host = await far.signUp('Host');
  farBucket = await aBucket(far, host);
  const { accessKeyId, secretAccessKey } = await aKey(far, host, farBucket);
  const location = { title: 'Far', endpoint: s3Url(far), bucket: farBucket.name, accessKeyId, secretAccessKey };
  near = await startTestApp({
    S3_LOCATIONS: JSON.stringify([
      { name: 'far', ...location },
      { name: 'broken', ...location, secretAccessKey: 'wrong' },
    ]),
  });
  // Else its first repair adds this mark to the objects at any moment.
  await belongsToUs(near.ctx.blobs.get('far')!, near.ctx.installationId);
});
afterAll(async () => {
  await near?.close();
  await far?.close();
});

async function opened(gb = 1) {
  const alice = await near.signUp();
  const bucket = await aBucket(near, alice, { location: 'far', gb });
  return { bucket, client: s3Client(s3Url(near), await aKey(near, alice, bucket)) };
}

it('streams bytes through to another S3, and keeps use and removal here', async () => {
  const { bucket, client } = await opened();
  const Bucket = bucket.name;
  const held = await useOf(far, farBucket);
  const bytes = randomBytes(11 * MiB + 3);
  await client.send(new PutObjectCommand({ Bucket, Key: 'small', Body: 'small' }));
  await new Upload({ client, params: { Bucket, Key: 'large', Body: bytes }, partSize: 5 * MiB }).done();
  expect(await useOf(near, bucket)).toEqual({ bytes: counted(5) + counted(bytes.length, 'large'), objects: 2 });
  // There each part is an object, named by its blob.
  const names = 3 * blobName(randomUUID()).length;
  expect(await useOf(far, farBucket)).toEqual({
    bytes: held.bytes + counted(5) + bytes.length + names,
    objects: held.objects + 4,
  });
  const get = async (Key: string, Range?: string) =>
    buffer((await client.send(new GetObjectCommand({ Bucket, Key, Range }))).Body as Readable);
  const hash = (of: Uint8Array) => createHash('sha256').update(of).digest('hex');
  expect(hash(await get('large'))).toBe(hash(bytes));
  expect(await get('large', `bytes=${5 * MiB - 5}-${10 * MiB + 5}`)).toEqual(bytes.subarray(5 * MiB - 5, 10 * MiB + 6));
  expect((await get('small')).toString()).toBe('small');
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'large' }));
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'small' }));
  await expect.poll(() => useOf(far, farBucket), REMOVED).toEqual(held);
  await expect.poll(() => blobsOf(near, bucket), REMOVED).toEqual({});
});

it('refuses over the quota of the near bucket, and leaves nothing at the far one', async () => {
  const { bucket, client } = await opened();
  const held = await useOf(far, farBucket);
  await near.ctx.db.updateTable('s3_bucket').set({ quota_bytes: 10n }).where('id', '=', bucket.id).execute();
  await expect(
    client.send(new PutObjectCommand({ Bucket: bucket.name, Key: 'a', Body: randomBytes(11) })),
  ).rejects.toMatchObject({ name: 'QuotaExceeded' });
  expect(await useOf(far, farBucket)).toEqual(held);
});

it('compares the far bytes with its rows', async () => {
  const { bucket, client } = await opened();
  await client.send(new PutObjectCommand({ Bucket: bucket.name, Key: 'kept', Body: 'kept' }));
  const held = await useOf(far, farBucket);
  const loose = 'objects/00000000-0000-4000-8000-000000000000';
  async function* text(): AsyncIterable<Uint8Array> {
    yield Buffer.from('loose');
  }
  await near.ctx.blobs.get('far')!.put(loose, text());
  expect((await useOf(far, farBucket)).objects).toBe(held.objects + 1);
  await repairObjects(near.ctx);
  expect((await useOf(far, farBucket)).objects).toBe(held.objects + 1);
  expect(await approveRemoval(near.ctx.db, 'objects/far')).toBe(1n);
  await repairObjects(near.ctx);
  await expect.poll(() => useOf(far, farBucket), REMOVED).toEqual(held);
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'kept' }));
  expect((await buffer(Body as Readable)).toString()).toBe('kept');
});

it('probes a location, and says what is wrong with it', async () => {
  await probeLocation(near.ctx, 'local');
  await probeLocation(near.ctx, 'far');
  await expect(probeLocation(near.ctx, 'broken')).rejects.toThrow(/location broken .*SignatureDoesNotMatch/);
  await expect(probeLocation(near.ctx, 'nowhere')).rejects.toThrow('location nowhere is not configured');
});

it('answers that it is unavailable while the other S3 is, and goes on afterwards', async () => {
  const { bucket, client } = await opened();
  const Bucket = bucket.name;
  await client.send(new PutObjectCommand({ Bucket, Key: 'before', Body: 'before' }));
  const { s3Port } = far.ctx.config;
  await far.close();
  for (const command of [
    () => client.send(new GetObjectCommand({ Bucket, Key: 'before' })),
    () => client.send(new PutObjectCommand({ Bucket, Key: 'during', Body: 'during' })),
  ])
    await expect(command()).rejects.toMatchObject({ name: 'ServiceUnavailable', $metadata: { httpStatusCode: 503 } });
  expect(await useOf(near, bucket)).toEqual({ bytes: counted(6), objects: 1 });
  expect(s3Port).toBeGreaterThan(0);
});
