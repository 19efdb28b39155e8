import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { repairObjects } from './repair.ts';
import { aBucket, aKey, counted, s3Client, s3Url, useOf } from './testing/bucket.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
});
afterAll(() => app?.close());

const LEAST = 8_192;
const LARGE = 20_000;
/** The most that a writer can store beside the bytes: 2 KB of metadata, ten tags, 1 KB of a name. */
const METADATA = { m: 'm'.repeat(2_047) };
const TAGS = Array.from({ length: 10 }, (_, index) => ({ Key: `${index}`.repeat(127), Value: 'v'.repeat(256) }));
const TAG_BYTES = 10 * (127 + 256);
const TAGGING = new URLSearchParams(TAGS.map(({ Key, Value }) => [Key, Value])).toString();

async function opened(given: Parameters<typeof aBucket>[2] = {}) {
  const bucket = await aBucket(app, alice, given);
  const client = s3Client(s3Url(app), await aKey(app, alice, bucket));
  const Bucket = bucket.name;
  return {
    bucket,
    client,
    Bucket,
    used: async () => (await useOf(app, bucket)).bytes,
    put: (Key: string, Body: Uint8Array, more: object = {}) =>
      client.send(new PutObjectCommand({ Bucket, Key, Body, ...more })),
    copy: (from: string, Key: string, more: object = {}) =>
      client.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${from}`, ...more })),
    delete: (Key: string) => client.send(new DeleteObjectCommand({ Bucket, Key })),
  };
}

const FULL = { name: 'QuotaExceeded' };

describe('objects', () => {
  it('of no bytes count at least 8 KiB each, so a full bucket takes no more of them', async () => {
    const { bucket, put } = await opened({ quotaBytes: BigInt(7 * LEAST) });
    const key = (n: number) => `${n}`.padStart(1_024, 'k');
    const puts = Array.from({ length: 20 }, (_, n) =>
      put(key(n), Buffer.alloc(0), { Metadata: METADATA, Tagging: TAGGING }),
    );
    const refused = (await Promise.allSettled(puts)).filter((result) => result.status === 'rejected');
    expect(refused.map(({ reason }) => reason.name)).toEqual(Array.from({ length: 13 }, () => 'QuotaExceeded'));
    expect(await useOf(app, bucket)).toEqual({ bytes: 7 * LEAST, objects: 7 });
  });

  it('count with their names, metadata and tags in bytes of UTF-8, and show their own size', async () => {
    const { used, put, client, Bucket } = await opened();
    const Key = 'é語😀';
    await put(Key, randomBytes(LARGE), { Metadata: METADATA, Tagging: TAGGING, ContentType: 'text/plain' });
    expect(await used()).toBe(LARGE + Buffer.byteLength(Key) + 2_048 + TAG_BYTES);
    expect((await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength).toBe(LARGE);
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents!.map(({ Size }) => Size)).toEqual([LARGE]);
  });

  it('count with what other headers hold, and with a content type of unusual length', async () => {
    const { used, put } = await opened();
    await put('k', randomBytes(LARGE), { ContentType: 'x/y'.padEnd(255, 'y') });
    expect(await used()).toBe(LARGE + 1);
    await put('k', randomBytes(LARGE), { ContentDisposition: 'x'.repeat(3_000) });
    expect(await used()).toBe(LARGE + 1 + 'content-disposition'.length + 3_000);
    await put('k', randomBytes(LARGE), { ContentType: 'x/y'.padEnd(4_000, 'y') });
    expect(await used()).toBe(LARGE + 1 + 'content-type'.length + 4_000);
  });

  it('that are replaced, copied, renamed and deleted leave no difference', async () => {
    const { used, put, copy, ...s3 } = await opened();
    await put('a', randomBytes(LARGE), { Metadata: METADATA });
    await put('a', randomBytes(LARGE + 5));
    expect(await used()).toBe(LARGE + 6);
    await copy('a', 'second');
    expect(await used()).toBe(2 * (LARGE + 5) + 1 + 6);
    // A client renames by a copy and a deletion.
    const long = 'n'.repeat(1_000);
    await copy('a', long);
    await s3.delete('a');
    expect(await used()).toBe(2 * (LARGE + 5) + 6 + 1_000);
    await s3.delete(long);
    await s3.delete('second');
    await s3.delete('second');
    expect(await used()).toBe(0);
  });

  it('count anew when a copy onto themselves replaces their metadata, and not where that does not fit', async () => {
    const { used, put, copy } = await opened({ quotaBytes: BigInt(LARGE + 2_000) });
    await put('k', randomBytes(LARGE));
    const replace = { MetadataDirective: 'REPLACE' } as const;
    await expect(copy('k', 'k', { ...replace, Metadata: METADATA })).rejects.toMatchObject(FULL);
    expect(await used()).toBe(LARGE + 1);
    await copy('k', 'k', { ...replace, Metadata: { m: 'm'.repeat(99) } });
    expect(await used()).toBe(LARGE + 1 + 100);
    await copy('k', 'k', { ...replace, Metadata: {} });
    expect(await used()).toBe(LARGE + 1);
  });

  it('count anew with tags that are put later, which are refused where they do not fit', async () => {
    const { used, put, client, Bucket } = await opened({ quotaBytes: BigInt(LARGE + 2_000) });
    await put('k', randomBytes(LARGE));
    const tag = (TagSet: typeof TAGS) =>
      client.send(new PutObjectTaggingCommand({ Bucket, Key: 'k', Tagging: { TagSet } }));
    await expect(tag(TAGS)).rejects.toMatchObject(FULL);
    expect(await used()).toBe(LARGE + 1);
    await tag(TAGS.slice(0, 2));
    expect(await used()).toBe(LARGE + 1 + TAG_BYTES / 5);
    await client.send(new DeleteObjectTaggingCommand({ Bucket, Key: 'k' }));
    expect(await used()).toBe(LARGE + 1);
  });
});

describe('uploads in parts', () => {
  it('count from their beginning, so that a full bucket takes no more of them', async () => {
    const { used, client, Bucket } = await opened({ quotaBytes: BigInt(5 * LEAST) });
    const begin = (n: number) =>
      client.send(new CreateMultipartUploadCommand({ Bucket, Key: `k${n}`, Metadata: METADATA, Tagging: TAGGING }));
    const begun = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => begin(n)));
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (const result of begun) if (result.status === 'rejected') expect(result.reason).toMatchObject(FULL);
    expect(await used()).toBe(5 * LEAST);
  });

  it('count each part at least 8 KiB, become one object and give back the rest', async () => {
    const { used, client, Bucket } = await opened();
    const target = { Bucket, Key: 'k' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...target, Metadata: METADATA }));
    const put = (PartNumber: number, bytes: number) =>
      client.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body: randomBytes(bytes) }));
    const { ETag } = await put(1, LARGE);
    for (let n = 2; n <= 6; n += 1) await put(n, 1);
    await put(6, 2);
    expect(await used()).toBe(LEAST + LARGE + 5 * LEAST);
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload }));
    expect(await used()).toBe(LARGE + 1 + 2_048);
    const aborted = await client.send(new CreateMultipartUploadCommand(target));
    const upload = { ...target, UploadId: aborted.UploadId };
    await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: randomBytes(1) }));
    await client.send(new AbortMultipartUploadCommand(upload));
    expect(await used()).toBe(LARGE + 1 + 2_048);
  });
});

it('the repair counts as the changes do', async () => {
  const { used, put, client, Bucket, bucket } = await opened();
  await put('k', randomBytes(LARGE), { Metadata: METADATA, Tagging: TAGGING });
  await put('empty', Buffer.alloc(0));
  const target = { Bucket, Key: 'upload' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: randomBytes(9_000) }));
  const before = await used();
  expect(before).toBe(LARGE + 1 + 2_048 + TAG_BYTES + counted(0) + counted(0) + 9_000);
  await sql`update s3_bucket set used_bytes = 7 where id = ${bucket.id}`.execute(app.ctx.db);
  await repairObjects(app.ctx);
  expect(await used()).toBe(before);
});
