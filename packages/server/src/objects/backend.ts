import { Readable } from 'node:stream';
import type { CorsRule, S3Backend, S3Bucket, S3Key, S3Object, S3Owner } from '@stagi/s3/backend.ts';
import { BlobMissing, type ByteRange } from '@stagi/s3/blobStore.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { adminBuckets } from './adminBuckets.ts';
import { blobName } from './blobs.ts';
import type { Writer } from './changeBucket.ts';
import { bookBytes, changeBucket } from './changeBucket.ts';
import { commitObject } from './commitObject.ts';
import { typeByName } from './contentTypes.ts';
import { deleteObjects } from './deleteObjects.ts';
import { KEY_WORKS, keysStillWorking, openS3Key } from './keys.ts';
import { listObjects } from './listObjects.ts';
import { listUploads } from './listUploads.ts';
import { keyBytes, presentObject } from './rows.ts';
import * as uploads from './uploads.ts';
import { discardBlob, storeOf, toldToClient, writeBlob } from './writeBlob.ts';

const writer = (key: S3Key): Writer => ({ accessKeyId: key.accessKeyId });

/** The S3 service's keys, buckets and objects: rows in PostgreSQL, bytes in the locations. */
export function createBackend(
  ctx: Pick<Context, 'db' | 'blobs' | 'registration' | 'secrets' | 'log' | 'meters'>,
): S3Backend {
  const { db } = ctx;
  return {
    ...adminBuckets(db),

    async findKey(accessKeyId) {
      const row = await db
        .selectFrom('s3_key')
        .leftJoin('s3_bucket', 's3_bucket.id', 's3_key.bucket_id')
        .leftJoin('workspace', 'workspace.id', 's3_key.workspace_id')
        .select(['s3_key.access_key_id', 's3_key.secret_sealed', 's3_key.mode', 's3_key.prefix', 's3_key.admin_owner'])
        .select('s3_key.opens_one_object')
        .select(['s3_key.workspace_id', 's3_bucket.name as bucket', 'workspace.name as workspace_name'])
        .where('s3_key.access_key_id', '=', accessKeyId)
        .where(KEY_WORKS)
        .executeTakeFirst();
      if (!row) return null;
      return {
        ...openS3Key(ctx, row),
        bucket: row.bucket,
        mode: row.mode,
        prefix: row.prefix,
        opensOneObject: row.opens_one_object,
        owner: ownerOf(row),
        managesBuckets: row.admin_owner !== null,
      };
    },

    typeOfName: typeByName,

    stillWorking: (accessKeyIds) => keysStillWorking(db, accessKeyIds),

    async findBucket(name) {
      const row = await bucketsWithOwner(db).where('s3_bucket.name', '=', name).executeTakeFirst();
      return row ? presentBucket(row) : null;
    },

    async listBuckets(key) {
      const rows = await bucketsWithOwner(db)
        .$if(key.bucket !== null, (query) => query.where('s3_bucket.name', '=', key.bucket!))
        .$if(key.bucket === null, (query) => query.where('s3_bucket.admin_owner', '=', key.owner.displayName))
        .orderBy('s3_bucket.name')
        .execute();
      return rows.map(presentBucket);
    },

    async setCors(bucket, rules) {
      await db
        .updateTable('s3_bucket')
        .set({ cors: JSON.stringify(rules ?? []) })
        .where('id', '=', bucket.id)
        .where('closed_at', 'is', null)
        .execute();
    },

    async findObject(bucket, key) {
      return findObject(db, bucket.id, key);
    },

    async readObject(object, range) {
      try {
        return await openObject(ctx, object, range);
      } catch (error) {
        if (!(error instanceof BlobMissing)) throw toldToClient(ctx, error);
        const now = await findObject(db, object.bucketId, object.key);
        // Replaced or deleted since it was looked up: the client tries again and gets what is there now.
        if (now?.blobs[0]?.id !== object.blobs[0]?.id)
          throw new S3Error('ServiceUnavailable', 'The object was replaced while it was opened. Please try again.');
        throw error;
      }
    },

    writeBlob: (bucket, body, expectedBytes) => writeBlob(ctx, bucket.id, 'person', body, expectedBytes),
    discardBlob: (blob) => discardBlob(ctx, blob.id),

    async commitObject(by, bucket, key, content, condition) {
      return discardUnlessDone(content.blob.id, () => commitObject(db, bucket.id, writer(by), key, content, condition));
    },

    async replaceAttributes(by, object, attributes) {
      return changeBucket(db, object.bucketId, writer(by), async (trx, bucket) => {
        const counted = await countedOf(trx, object);
        const row = await trx
          .updateTable('s3_object')
          .set({
            headers: JSON.stringify(attributes.headers),
            metadata: JSON.stringify(attributes.metadata),
            tags: JSON.stringify(attributes.tags),
            modified_at: sql<Date>`date_trunc('milliseconds', clock_timestamp())`,
          })
          .where('bucket_id', '=', object.bucketId)
          .where('key', '=', keyBytes(object.key))
          .where(sql<boolean>`blobs = ${object.blobs.map(({ id }) => id)}::uuid[]`)
          .returningAll()
          .executeTakeFirst();
        if (!row) return null;
        await bookBytes(trx, bucket.id, row.counted - counted, writer(by));
        return presentObject(row, bucket.location);
      });
    },

    async setTags(by, object, tags) {
      await changeBucket(db, object.bucketId, writer(by), async (trx, bucket) => {
        const counted = await countedOf(trx, object);
        const row = await trx
          .updateTable('s3_object')
          .set({ tags: JSON.stringify(tags) })
          .where('bucket_id', '=', object.bucketId)
          .where('key', '=', keyBytes(object.key))
          .returning('counted')
          .executeTakeFirst();
        if (!row) throw new S3Error('NoSuchKey');
        await bookBytes(trx, bucket.id, row.counted - counted, writer(by));
      });
    },

    async deleteObjects(by, bucket, keys, condition) {
      await deleteObjects(db, bucket.id, keys, writer(by), condition);
    },

    listObjects: (bucket, request) => listObjects(db, bucket.id, request),

    createUpload: (by, bucket, key, upload) => uploads.createUpload(db, bucket.id, key, upload, writer(by)),
    findUpload: (bucket, key, uploadId) => uploads.findUpload(db, bucket.id, key, uploadId),
    putPart: (by, _bucket, upload, part) =>
      discardUnlessDone(part.blob.id, () => uploads.putPart(db, upload, part, writer(by))),
    listParts: (upload, after, limit) => uploads.listParts(db, upload, after, limit),
    completeUpload: (by, _bucket, upload, partNumbers, content, condition) =>
      uploads.completeUpload(db, upload, partNumbers, content, condition, writer(by)),
    findCompletedUpload: (bucket, key, uploadId) => uploads.findCompletedUpload(db, bucket.id, key, uploadId),
    abortUpload: (by, _bucket, upload) => uploads.abortUpload(db, upload, writer(by)),
    listUploads: (bucket, request) => listUploads(db, bucket.id, request),
  };

  async function discardUnlessDone<T>(blobId: string, commit: () => Promise<T>): Promise<T> {
    try {
      return await commit();
    } catch (error) {
      await discardBlob(ctx, blobId);
      throw error;
    }
  }
}

function bucketsWithOwner(db: Db) {
  return db
    .selectFrom('s3_bucket')
    .leftJoin('workspace', 'workspace.id', 's3_bucket.workspace_id')
    .select(['s3_bucket.id', 's3_bucket.name', 's3_bucket.created_at', 's3_bucket.cors', 's3_bucket.workspace_id'])
    .select(['s3_bucket.admin_owner', 'workspace.name as workspace_name'])
    .where('s3_bucket.closed_at', 'is', null);
}

const presentBucket = (row: {
  id: number;
  name: string;
  created_at: Date;
  cors: CorsRule[];
  workspace_id: number | null;
  admin_owner: string | null;
  workspace_name: string | null;
}): S3Bucket => ({
  id: row.id,
  name: row.name,
  owner: ownerOf(row),
  createdAt: row.created_at,
  cors: row.cors,
});

/** Of a workspace, or an operator by name. */
const ownerOf = (row: {
  workspace_id: number | null;
  workspace_name: string | null;
  admin_owner: string | null;
}): S3Owner =>
  row.workspace_id === null
    ? { id: row.admin_owner!, displayName: row.admin_owner! }
    : { id: String(row.workspace_id), displayName: row.workspace_name! };

/** Reads what an object counts for, under the lock of the bucket; 0 when it is gone. */
async function countedOf(trx: Db, { bucketId, key }: S3Object): Promise<bigint> {
  const row = await trx
    .selectFrom('s3_object')
    .select('counted')
    .where('bucket_id', '=', bucketId)
    .where('key', '=', keyBytes(key))
    .executeTakeFirst();
  return row?.counted ?? 0n;
}

async function findObject(db: Db, bucketId: number, key: string): Promise<S3Object | null> {
  const row = await db
    .selectFrom('s3_object')
    .innerJoin('s3_bucket', 's3_bucket.id', 's3_object.bucket_id')
    .selectAll('s3_object')
    .select('s3_bucket.location')
    .where('s3_object.bucket_id', '=', bucketId)
    .where('s3_object.key', '=', keyBytes(key))
    .executeTakeFirst();
  return row ? presentObject(row, row.location) : null;
}

interface Piece {
  id: string;
  location: string;
  /** Null: all of it. */
  range: ByteRange | null;
}

/** Opens the first blob before it answers, the others when their turn comes. */
async function openObject(
  ctx: Pick<Context, 'blobs'>,
  object: S3Object,
  range: ByteRange | undefined,
): Promise<Readable> {
  const [first, ...others] = piecesOf(object, range);
  if (!first) return Readable.from([]);
  const open = ({ id, location, range: part }: Piece): Promise<Readable> =>
    storeOf(ctx, location).get(blobName(id), part ?? undefined);
  const beginning = await open(first);
  if (others.length === 0) return beginning;
  async function* inTurn(): AsyncIterable<Uint8Array> {
    yield* beginning;
    for (const piece of others) yield* await open(piece);
  }
  const all = Readable.from(inTurn(), { objectMode: false });
  // The generator closes the first blob only if it was begun.
  all.once('close', () => beginning.destroy());
  return all;
}

/** The parts of the blobs that hold these bytes. */
function piecesOf(object: S3Object, range: ByteRange | undefined): Piece[] {
  const { start, end } = range ?? { start: 0, end: object.size - 1 };
  const pieces: Piece[] = [];
  let at = 0;
  for (const { id, location, size } of object.blobs) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, size - 1)];
    if (from <= to)
      pieces.push({ id, location, range: from === 0 && to === size - 1 ? null : { start: from, end: to } });
    at += size;
  }
  return pieces;
}
