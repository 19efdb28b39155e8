import type { S3Backend } from '@stagi/s3/backend.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { sql } from 'kysely';
import { LOCAL_LOCATION } from '../config/objectStorage.ts';
import type { Db } from '../db/schema.ts';
import { doomBlobs } from './blobs.ts';
import { changeBucket } from './changeBucket.ts';

/** What the API allows beyond the check of the table: labels do not end or begin in a hyphen, and it is no address. */
const BUCKET_NAME = /^(?!.*(\.\.|\.-|-\.))(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Buckets of operators: of no workspace, without quota, on the disk. */
export function adminBuckets(db: Db): Pick<S3Backend, 'createBucket' | 'deleteBucket'> {
  return {
    async createBucket(key, name) {
      if (!key.managesBuckets) throw new S3Error('AccessDenied');
      if (!BUCKET_NAME.test(name)) throw new S3Error('InvalidBucketName');
      const made = await db
        .insertInto('s3_bucket')
        .values({ name, admin_owner: key.owner.id, location: LOCAL_LOCATION })
        .onConflict((conflict) => conflict.column('name').where('closed_at', 'is', null).doNothing())
        .returning(['id', 'created_at'])
        .executeTakeFirst();
      if (made) return { id: made.id, name, owner: key.owner, createdAt: made.created_at, cors: [] };
      const taken = await db
        .selectFrom('s3_bucket')
        .select('admin_owner')
        .where('name', '=', name)
        .where('closed_at', 'is', null)
        .executeTakeFirst();
      throw new S3Error(taken?.admin_owner === key.owner.id ? 'BucketAlreadyOwnedByYou' : 'BucketAlreadyExists');
    },

    async deleteBucket(key, bucket) {
      if (!key.managesBuckets || bucket.owner.id !== key.owner.id) throw new S3Error('AccessDenied');
      await changeBucket(db, bucket.id, { accessKeyId: key.accessKeyId }, async (trx) => {
        const object = await trx
          .selectFrom('s3_object')
          .select('key')
          .where('bucket_id', '=', bucket.id)
          .limit(1)
          .executeTakeFirst();
        if (object) throw new S3Error('BucketNotEmpty');
        // Unfinished uploads do not keep a bucket.
        const { rows } = await sql<{ blob_id: string }>`delete from s3_part using s3_upload
          where s3_upload.id = upload_id and bucket_id = ${bucket.id} returning blob_id`.execute(trx);
        await doomBlobs(
          trx,
          rows.map(({ blob_id }) => blob_id),
        );
        await trx.deleteFrom('s3_upload').where('bucket_id', '=', bucket.id).execute();
        await trx
          .updateTable('s3_bucket')
          .set({ closed_at: sql<Date>`clock_timestamp()`, used_bytes: 0n, object_count: 0n })
          .where('id', '=', bucket.id)
          .execute();
      });
    },
  };
}
