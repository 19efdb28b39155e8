import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { writePlatformObject } from '../objects/platformObjects.ts';
import { type ChunkContent, encodeChunk, keyOf } from './chunk.ts';
import { type Claim, claimDue, HAS_ENDED, type Release, release, scheduleCopies } from './claims.ts';
import { type ChunkLimits, readGaps, readLines, readStored } from './readChunk.ts';
import { makeRoom } from './removeOldest.ts';

/** Containers that are copied at once by one process. */
const CONCURRENT = 4;
/** A container with more lines waits for its next turn, so that none is starved. */
const CHUNKS_PER_TURN = 8;
const LIMITS: ChunkLimits = { lines: 50_000, bytes: 4 * 1024 * 1024 };

/** Copies what is due to the log buckets. Any number of processes may run this on one database. */
export async function copyDueLogs(ctx: Context, signal: AbortSignal): Promise<void> {
  // A claim without a worker id is not freed when this process dies.
  await ctx.registration.firstAttempt;
  await scheduleCopies(ctx.db, ctx.config.logCopyMs);
  await Promise.all(Array.from({ length: CONCURRENT }, () => takeTurns(ctx, signal)));
}

async function takeTurns(ctx: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const [claim] = await claimDue(ctx.db, 1, ctx.registration.workerId());
    if (!claim) return;
    let how: Release = 'failed';
    try {
      how = await takeTurn(ctx, claim, signal);
    } catch (error) {
      ctx.log.warn({ err: error, containerId: claim.containerId }, 'cannot copy a log to its bucket now');
    }
    await release(ctx.db, claim, how);
  }
}

async function takeTurn(ctx: Context, claim: Claim, signal: AbortSignal): Promise<Release> {
  const copy = await loadCopy(ctx, claim);
  if (!copy) return 'wait';
  if (copy.isBucketGone) return 'finished';
  if (copy.bucketId === null) return 'failed';
  const bucket = { storageId: copy.storageId, bucketId: copy.bucketId };
  await putIntents(ctx, claim, bucket);
  let copied = copy.copiedSeq;
  for (let chunks = 0; ; chunks += 1) {
    if (chunks === CHUNKS_PER_TURN || signal.aborted) return 'more';
    const next = await decideChunk(ctx, claim, copy, copied);
    if (next === 'done') return copy.hasEnded ? 'finished' : 'wait';
    if (next === 'lost') return 'more';
    await put(ctx, bucket, next.chunk, next.content);
    copied = next.chunk.last_seq;
    if (next.chunk.is_end) return 'finished';
  }
}

interface Copy {
  storageId: number;
  /** Null: not made yet. */
  bucketId: number | null;
  isBucketGone: boolean;
  slug: string;
  folder: string | null;
  copiedSeq: bigint;
  /** The last line that is stored. */
  lastSeq: bigint;
  /** No more lines come. */
  hasEnded: boolean;
}

async function loadCopy({ db }: Context, { containerId, token }: Claim): Promise<Copy | undefined> {
  const { rows } = await sql<Copy>`
    select storage.id as "storageId", case when storage.status = 'rented' then storage.bucket_id end as "bucketId",
      storage.status in ('terminating', 'deleted') as "isBucketGone", container.slug, copy.folder,
      copy.copied_seq as "copiedSeq", head.last_seq as "lastSeq", coalesce(${HAS_ENDED}, false) as "hasEnded"
    from log_copy copy
    join storage on storage.id = copy.storage_id
    join container on container.id = copy.container_id
    join instance on instance.id = container.instance_id
    join log_head head on head.container_id = copy.container_id
    where copy.container_id = ${containerId} and copy.lock_token = ${token}`.execute(db);
  return rows[0];
}

interface Chunk {
  id: bigint;
  container_id: number;
  key: string;
  first_seq: bigint;
  last_seq: bigint;
  is_end: boolean;
}

/** What a process had decided before it died: the same object again. */
async function putIntents(ctx: Context, { containerId }: Claim, bucket: Bucket): Promise<void> {
  const chunks = await ctx.db
    .selectFrom('log_chunk')
    .select(['id', 'container_id', 'key', 'first_seq', 'last_seq', 'is_end'])
    .where('container_id', '=', containerId)
    .where('state', '=', 'intent')
    .orderBy('first_seq')
    .execute();
  for (const chunk of chunks) await put(ctx, bucket, chunk, await readStored(ctx.db, chunk));
}

/**
 * Settles the next chunk: reads its lines, then stores its range and key. `done`: nothing is left; `lost`: another
 * process has the log now.
 *
 * Lines may be committed asynchronously, so a crash of the database may lose the last ones and give their numbers to
 * others. The intent is committed to the disk after they were seen, and with it everything that was committed before.
 */
async function decideChunk(
  { db }: Context,
  { containerId, token }: Claim,
  copy: Copy,
  copied: bigint,
): Promise<{ chunk: Chunk; content: ChunkContent } | 'done' | 'lost'> {
  const first = copied + 1n;
  const { lines, isCut } = await readLines(db, containerId, first, copy.lastSeq, LIMITS);
  const isEnd = copy.hasEnded && !isCut;
  const last = isCut ? lines.at(-1)!.seq : copy.lastSeq;
  const gaps = await readGaps(db, containerId, { first, last, isEnd });
  if (lines.length === 0 && gaps.length === 0) {
    // Retention has deleted them before there was a bucket.
    if (last > copied) await moveOn(db, { containerId, token }, copied, last);
    return 'done';
  }
  const start = lines[0] ?? { time_ns: gaps[0]!.to_ns ?? gaps[0]!.from_ns ?? nowNs(), seq: first };
  const chunk = await inTransaction(db, async (trx) => {
    const row = await trx
      .selectFrom('log_copy')
      .select(['copied_seq', 'folder'])
      .where('container_id', '=', containerId)
      .where('lock_token', '=', token)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (row?.copied_seq !== copied) return null;
    const folder = row.folder ?? (await freeFolder(trx, copy, containerId));
    await trx
      .updateTable('log_copy')
      .set({ copied_seq: last, folder })
      .where('container_id', '=', containerId)
      .execute();
    crashPoint('logChunk.stored');
    return trx
      .insertInto('log_chunk')
      .values({
        container_id: containerId,
        storage_id: copy.storageId,
        first_seq: first,
        last_seq: last,
        is_end: isEnd,
        key: keyOf(folder, start.time_ns, start.seq),
        lines: lines.length,
      })
      .returning(['id', 'container_id', 'key', 'first_seq', 'last_seq', 'is_end'])
      .executeTakeFirstOrThrow();
  });
  return chunk ? { chunk, content: { lines, gaps } } : 'lost';
}

async function moveOn(db: Db, { containerId, token }: Claim, from: bigint, to: bigint): Promise<void> {
  await db
    .updateTable('log_copy')
    .set({ copied_seq: to })
    .where('container_id', '=', containerId)
    .where('lock_token', '=', token)
    .where('copied_seq', '=', from)
    .execute();
}

const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** The container's Unique ID; one that an earlier container of the server had gets a number, and a sign that no ID has. */
async function freeFolder(trx: Db, copy: Copy, containerId: number): Promise<string> {
  const taken = await trx
    .selectFrom('log_copy')
    .select('container_id')
    .where('storage_id', '=', copy.storageId)
    .where('folder', '=', copy.slug)
    .executeTakeFirst();
  return taken ? `${copy.slug}.${containerId}` : copy.slug;
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}

interface Bucket {
  storageId: number;
  bucketId: number;
}

/** Repeating it is harmless: the same lines replace the same object. */
async function put(ctx: Context, bucket: Bucket, chunk: Chunk, content: ChunkContent): Promise<void> {
  crashPoint('logChunk.intentStored');
  const body = await encodeChunk(content);
  await makeRoom(ctx, bucket, body.length);
  await writePlatformObject(ctx, bucket.bucketId, chunk.key, once(body), { contentType: 'application/zstd' });
  crashPoint('logChunk.called');
  await ctx.db
    .updateTable('log_chunk')
    .set({ state: 'done', bytes: BigInt(body.length) })
    .where('id', '=', chunk.id)
    .where('state', '=', 'intent')
    .execute();
  crashPoint('logChunk.applied');
}
