import { randomUUID } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';
import { createBucket, type NewBucket } from '../buckets.ts';
import { type CreatedS3Key, createS3Key, type NewS3Key } from '../keys.ts';

export interface TestBucket {
  id: number;
  name: string;
}

export async function aBucket(
  { ctx }: TestApp,
  owner: Person,
  { gb, ...given }: Partial<NewBucket> & { gb?: number } = {},
): Promise<TestBucket> {
  const name = `bucket-${randomUUID().slice(0, 13)}`;
  const id = await createBucket(ctx.db, {
    name,
    workspaceId: owner.workspaceId,
    location: 'local',
    quotaBytes: BigInt(gb ?? 10) * 10n ** 9n,
    isPlatforms: false,
    ...given,
  });
  return { id: id!, name };
}

/** A read-write key of the person, for the whole bucket. */
export function aKey(
  { ctx }: TestApp,
  owner: Person,
  bucket: TestBucket,
  given: Partial<NewS3Key> = {},
): Promise<CreatedS3Key> {
  return createS3Key(ctx, ctx.db, {
    purpose: 'person',
    workspaceId: owner.workspaceId,
    bucketId: bucket.id,
    title: 'test',
    mode: 'read-write',
    prefix: '',
    madeBy: owner.userId,
    madeWith: null,
    expiresAt: null,
    ...given,
  });
}

/** The AWS client, which tries each request once. */
export function s3Client(endpoint: string, { accessKeyId, secretAccessKey }: CreatedS3Key): S3Client {
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    maxAttempts: 1,
  });
}

export const s3Url = ({ ctx }: TestApp): string => `http://127.0.0.1:${ctx.config.s3Port}`;

/** What the bucket says that it holds. */
export async function useOf({ ctx }: TestApp, bucket: TestBucket): Promise<{ bytes: number; objects: number }> {
  const row = await ctx.db
    .selectFrom('s3_bucket')
    .select(['used_bytes', 'object_count'])
    .where('id', '=', bucket.id)
    .executeTakeFirstOrThrow();
  return { bytes: Number(row.used_bytes), objects: Number(row.object_count) };
}

/** The bytes that an object, an open upload (of 0 bytes) or a part counts for, with the texts stored beside its own. */
export const counted = (bytes: number, ...texts: string[]): number =>
  Math.max(8_192, bytes + Buffer.byteLength(texts.join('')));

/** How many blobs of the bucket are in each state. */
export async function blobsOf({ ctx }: TestApp, bucket: TestBucket): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: bigint }>`select state, count(*) from s3_blob
    where bucket_id = ${bucket.id} group by state`.execute(ctx.db);
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
}

/** A body that gives its pieces when `release` is called, one for each call, and ends with the last. */
export function heldBody(pieces: readonly Uint8Array[]) {
  const gates = pieces.map(() => Promise.withResolvers<void>());
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const [index, piece] of pieces.entries()) {
      await gates[index]!.promise;
      yield piece;
    }
  }
  let released = 0;
  return {
    body: body(),
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    release() {
      gates[released]?.resolve();
      released += 1;
    },
  };
}
