import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { type Loop, repeatEvery } from '../loops/repeatEvery.ts';
import { isOurPlace } from '../quarantine/belongsToUs.ts';
import { inStore, type Listed, type Place } from '../quarantine/place.ts';
import { quarantineUnknown } from '../quarantine/quarantineUnknown.ts';
import { LIVE_WORKERS } from '../reconcile/workerRegistry.ts';
import { BLOB_FOLDER, blobName } from './blobs.ts';

const EVERY_MS = 3_600_000;
const AT_ONCE = 1_000;

type Surroundings = Pick<Context, 'db' | 'blobs' | 'log' | 'meters' | 'installationId'>;

/** Makes rows and bytes agree: now, and every hour. */
export function startRepair(ctx: Surroundings): Loop {
  return repeatEvery(ctx, EVERY_MS, 'repair of objects', () => repairObjects(ctx));
}

export async function repairObjects(ctx: Surroundings): Promise<void> {
  await doomAbandoned(ctx);
  let missing = 0;
  for (const [location, store] of ctx.blobs) {
    try {
      missing += await compareLocation(ctx, location, store);
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

/** Quarantines bytes without a row. Answers how many rows are without their bytes. */
async function compareLocation(ctx: Surroundings, location: string, store: BlobStore): Promise<number> {
  let count = 0;
  const missing = batches<string>(async (batch) => {
    count += await reportMissing(ctx, location, store, batch);
  });
  const place: Place = {
    name: `${BLOB_FOLDER}${location}`,
    list: () => walk(ctx, location, store, missing),
    known: (names) => knownBlobs(ctx, names),
    ...inStore(store),
  };
  if (await isOurPlace(ctx, place.name, store)) await quarantineUnknown(ctx, place);
  else for await (const _ of place.list());
  return count;
}

/** Walks bytes and rows side by side, both in the order of the blobs' ids. */
async function* walk(
  ctx: Surroundings,
  location: string,
  store: BlobStore,
  missing: Batches<string>,
): AsyncGenerator<Listed> {
  const rows = idsInOrder(ctx, location);
  let row = await rows.next();
  for await (const { name, size } of store.list(BLOB_FOLDER)) {
    const id = name.slice(BLOB_FOLDER.length);
    for (; !row.done && row.value < id; row = await rows.next()) await missing.add(row.value);
    const isKnown = !row.done && row.value === id;
    if (isKnown) row = await rows.next();
    yield { name, bytes: size, isKnown };
  }
  for (; !row.done; row = await rows.next()) await missing.add(row.value);
  await missing.end();
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

/** Those that have a row, also one that is being written or removed. */
async function knownBlobs({ db }: Surroundings, names: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = names.map((name) => name.slice(BLOB_FOLDER.length)).filter(isUuid);
  const { rows } = await sql<{ id: string }>`select id from s3_blob where id = any(${ids}::uuid[])`.execute(db);
  return new Set(rows.map(({ id }) => blobName(id)));
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

interface Batches<T> {
  add(item: T): Promise<void>;
  end(): Promise<void>;
}

function batches<T>(work: (batch: readonly T[]) => Promise<void>): Batches<T> {
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
