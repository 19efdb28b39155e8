import type { BlobStore, StoredBlob } from '@stagi/s3/blobStore.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { type Loop, repeatEvery } from '../loops/repeatEvery.ts';
import { LIVE_WORKERS } from '../reconcile/workerRegistry.ts';
import { BLOB_FOLDER, blobName } from './blobs.ts';

const EVERY_MS = 3_600_000;
const AT_ONCE = 1_000;

type Surroundings = Pick<Context, 'db' | 'blobs' | 'log' | 'meters'>;

/** Makes rows and bytes agree: now, and every hour. */
export function startRepair(ctx: Surroundings): Loop {
  let isFirst = true;
  return repeatEvery(ctx, EVERY_MS, 'repair of objects', async () => {
    await repairObjects(ctx, { keepMs: isFirst ? 0 : EVERY_MS });
    isFirst = false;
  });
}

/** `keepMs`: bytes without a row that are younger are left alone. */
export async function repairObjects(ctx: Surroundings, { keepMs }: { keepMs: number }): Promise<void> {
  await doomAbandoned(ctx);
  let missing = 0;
  for (const [location, store] of ctx.blobs) {
    try {
      missing += await compareLocation(ctx, location, store, keepMs);
    } catch (error) {
      // The other locations are compared all the same.
      ctx.log.error({ err: error, location }, 'cannot compare the objects of a location');
    }
  }
  ctx.meters.blobsMissing(missing);
  await correctUse(ctx);
}

/** What processes that have ended were writing. */
async function doomAbandoned({ db, log }: Surroundings): Promise<void> {
  const { numAffectedRows } = await sql`update s3_blob set state = 'doomed' where state = 'writing'
    and case when owner is null then created_at < now() - interval '1 hour' else owner not in ${LIVE_WORKERS} end`.execute(
    db,
  );
  if (numAffectedRows) log.info({ blobs: Number(numAffectedRows) }, 'unfinished writes of ended processes are removed');
}

/** Walks bytes and rows side by side, both in the order of the blobs' ids. Answers how many bytes are missing. */
async function compareLocation(ctx: Surroundings, location: string, store: BlobStore, keepMs: number): Promise<number> {
  let count = 0;
  const loose = batches<StoredBlob>((batch) => removeLoose(ctx, store, batch, keepMs));
  const missing = batches<string>(async (batch) => {
    count += await reportMissing(ctx, location, store, batch);
  });
  const rows = idsInOrder(ctx, location);
  let row = await rows.next();
  for await (const blob of store.list(BLOB_FOLDER)) {
    const id = blob.name.slice(BLOB_FOLDER.length);
    for (; !row.done && row.value < id; row = await rows.next()) await missing.add(row.value);
    if (!row.done && row.value === id) row = await rows.next();
    else await loose.add(blob);
  }
  for (; !row.done; row = await rows.next()) await missing.add(row.value);
  await loose.end();
  await missing.end();
  return count;
}

/** Blobs that are stored: those that are being written or removed may have no bytes. */
async function* idsInOrder({ db }: Surroundings, location: string): AsyncGenerator<string, undefined> {
  let last: string | null = null;
  for (;;) {
    const page: { id: string }[] = await db
      .selectFrom('s3_blob')
      .select('id')
      .where('location', '=', location)
      .where('state', '=', 'stored')
      .$if(last !== null, (query) => query.where('id', '>', last!))
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    for (const { id } of page) yield id;
    if (page.length < AT_ONCE) return;
    last = page.at(-1)!.id;
  }
}

/** A row comes before its bytes, so bytes that have none now have none any more. */
async function removeLoose(
  { db, log }: Surroundings,
  store: BlobStore,
  blobs: readonly StoredBlob[],
  keepMs: number,
): Promise<void> {
  const ids = blobs.map(({ name }) => name.slice(BLOB_FOLDER.length));
  const { rows } = await sql<{ id: string }>`select id from s3_blob
    where id = any(${ids.filter(isUuid)}::uuid[])`.execute(db);
  const known = new Set(rows.map(({ id }) => blobName(id)));
  const found = blobs.filter(({ name, modifiedAt }) => !known.has(name) && modifiedAt.getTime() <= Date.now() - keepMs);
  for (const { name } of found) await store.remove(name);
  if (found.length > 0) log.warn({ blobs: found.length }, 'bytes without a row were removed');
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** Bytes that are lost are for a person to bring back, from a backup: nothing is removed. */
async function reportMissing(
  { db, log }: Surroundings,
  location: string,
  store: BlobStore,
  ids: readonly string[],
): Promise<number> {
  const absent: string[] = [];
  for (const id of ids) if (!(await store.head(blobName(id)))) absent.push(id);
  if (absent.length === 0) return 0;
  // Asked after the bytes: what was removed meanwhile is not missing.
  const { rows } = await sql<{ id: string; bucket_id: number }>`select id, bucket_id from s3_blob
    where id = any(${absent}::uuid[]) and state = 'stored'`.execute(db);
  for (const { id, bucket_id } of rows)
    log.error({ blob: id, bucket: bucket_id, location }, 'the bytes of an object are missing');
  return rows.length;
}

/** Use is kept exact by every change; a difference is a bug, or someone changed rows by hand. */
async function correctUse(ctx: Surroundings): Promise<void> {
  const buckets = await ctx.db.selectFrom('s3_bucket').select('id').execute();
  for (const { id } of buckets) {
    // One statement sees one state of all tables, so writers need not be held off.
    const differs = sql`(used_bytes, object_count) is distinct from (${COUNTED_BYTES}, ${COUNTED_OBJECTS})`;
    const { rows } = await sql`select from s3_bucket where id = ${id} and ${differs}`.execute(ctx.db);
    if (rows.length === 0) continue;
    await ctx.db.transaction().execute(async (trx) => {
      const before = await trx
        .selectFrom('s3_bucket')
        .select(['used_bytes', 'object_count'])
        .where('id', '=', id)
        .forNoKeyUpdate()
        .executeTakeFirstOrThrow();
      const { rows: after } = await sql<typeof before>`update s3_bucket
        set used_bytes = ${COUNTED_BYTES}, object_count = ${COUNTED_OBJECTS} where id = ${id} and ${differs}
        returning used_bytes, object_count`.execute(trx);
      if (after[0]) {
        ctx.meters.useCorrected();
        ctx.log.error({ bucket: id, before, after: after[0] }, 'the use of a bucket was wrong');
      }
    });
  }
}

const COUNTED_BYTES = sql`(
  (select coalesce(sum(counted), 0) from s3_object where bucket_id = s3_bucket.id)
  + (select coalesce(sum(counted), 0) from s3_upload where bucket_id = s3_bucket.id)
  + (select coalesce(sum(s3_part.counted), 0) from s3_part join s3_upload on s3_upload.id = upload_id
    where bucket_id = s3_bucket.id))::bigint`;
const COUNTED_OBJECTS = sql`(select count(*) from s3_object where bucket_id = s3_bucket.id)`;

function batches<T>(work: (batch: readonly T[]) => Promise<void>): {
  add(item: T): Promise<void>;
  end(): Promise<void>;
} {
  let batch: T[] = [];
  const flush = async (): Promise<void> => {
    const full = batch;
    batch = [];
    if (full.length > 0) await work(full);
  };
  return {
    async add(item) {
      batch.push(item);
      if (batch.length >= AT_ONCE) await flush();
    },
    end: flush,
  };
}
