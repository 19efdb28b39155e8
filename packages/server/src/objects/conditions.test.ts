import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aBucket, aKey, s3Client, s3Url } from './testing/bucket.ts';

const SECOND_MS = 1000;

let app: TestApp;
let client: S3Client;
let object: { Bucket: string; Key: string };
let ETag: string;
/** In whole seconds, as HTTP has it. */
let modifiedAt: Date;
beforeAll(async () => {
  app = await startTestApp();
  const alice = await app.signUp('Alice');
  const bucket = await aBucket(app, alice);
  client = s3Client(s3Url(app), await aKey(app, alice, bucket));
  object = { Bucket: bucket.name, Key: 'a.txt' };
  await client.send(new PutObjectCommand({ ...object, Body: 'first' }));
  const { ETag: etag, LastModified } = await client.send(new HeadObjectCommand(object));
  ETag = etag!;
  modifiedAt = LastModified!;
});
afterAll(() => app?.close());

const since = (seconds: number) => new Date(modifiedAt.getTime() + seconds * SECOND_MS);

/** The status of a read under conditions. */
async function read(conditions: object): Promise<number> {
  try {
    const { $metadata } = await client.send(new GetObjectCommand({ ...object, ...conditions }));
    return $metadata.httpStatusCode!;
  } catch (error) {
    return (error as { $metadata: { httpStatusCode: number } }).$metadata.httpStatusCode;
  }
}

describe('a read', () => {
  it('is not modified since its own second or a later one, and modified since an earlier one', async () => {
    expect(await read({ IfModifiedSince: since(-1) })).toBe(200);
    expect(await read({ IfModifiedSince: since(0) })).toBe(304);
    expect(await read({ IfModifiedSince: since(1) })).toBe(304);
  });

  it('is refused where it was modified after the second of If-Unmodified-Since', async () => {
    expect(await read({ IfUnmodifiedSince: since(-1) })).toBe(412);
    expect(await read({ IfUnmodifiedSince: since(0) })).toBe(200);
  });

  it('goes by entity tags before it goes by times', async () => {
    expect(await read({ IfMatch: ETag, IfUnmodifiedSince: since(-1) })).toBe(200);
    expect(await read({ IfMatch: '"other"' })).toBe(412);
    expect(await read({ IfNoneMatch: ETag, IfModifiedSince: since(-1) })).toBe(304);
    expect(await read({ IfNoneMatch: '"other"', IfModifiedSince: since(1) })).toBe(200);
  });
});

describe('a write', () => {
  const write = (conditions: object) => client.send(new PutObjectCommand({ ...object, Body: 'second', ...conditions }));

  it('with both conditions is refused, and writes nothing', async () => {
    await expect(write({ IfMatch: ETag, IfNoneMatch: '*' })).rejects.toMatchObject({
      name: 'InvalidRequest',
      message: 'Either If-Match or If-None-Match, not both',
    });
    await expect(write({ IfNoneMatch: '"other"' })).rejects.toMatchObject({ name: 'NotImplemented' });
    expect((await client.send(new HeadObjectCommand(object))).ETag).toBe(ETag);
  });
});
