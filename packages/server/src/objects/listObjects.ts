import type { Checksum, ListEntry, ListPage, ListRequest } from '@stagi/s3/backend.ts';
import { NO_TYPE } from '@stagi/s3/objectHeaders.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { keyBytes, keyText } from './rows.ts';

interface Listed {
  key: Buffer;
  /** Bytes of the common prefix; 0 for an object. */
  common: number;
  size: bigint;
  etag: string;
  checksum: Checksum | null;
  modified_at: Date;
  content_type: string | null;
}

/**
 * One page of a listing. Each page costs what the first costs: it begins in the index, at the marker. With a delimiter
 * it goes from one common prefix straight to the next, however many objects lie below them.
 */
export async function listObjects(db: Db, bucketId: number, request: ListRequest): Promise<ListPage> {
  const { limit, delimiter } = request;
  if (limit <= 0) return { entries: [], isTruncated: false };
  const range = rangeOf(request);
  const find = delimiter === '' ? listFlat : listFolder;
  const { rows } = await find(bucketId, range, request, limit + 1).execute(db);
  return { entries: rows.slice(0, limit).map(presentEntry), isTruncated: rows.length > limit };
}

interface KeyRange {
  /** The first key. */
  from: Buffer;
  /** The first key behind it; null: there is no end. */
  until: Buffer | null;
}

function rangeOf({ prefix, delimiter, after }: ListRequest): KeyRange {
  const start = keyBytes(prefix);
  const until = behind(start);
  if (after === null) return { from: start, until };
  const marker = keyBytes(after);
  // An answered common prefix stands for all keys below it.
  const from = isCommonPrefix(after, prefix, delimiter) ? behind(marker)! : Buffer.concat([marker, Buffer.of(0)]);
  return { from: Buffer.compare(from, start) > 0 ? from : start, until };
}

/** Whether a marker is a common prefix of this listing, and not a key. */
export const isCommonPrefix = (marker: string, prefix: string, delimiter: string): boolean =>
  delimiter !== '' &&
  marker.startsWith(prefix) &&
  marker.indexOf(delimiter, prefix.length) === marker.length - delimiter.length &&
  marker.length >= prefix.length + delimiter.length;

/** The first bytes behind all that begin with these. No byte of UTF-8 is above 0xf4, so the last one can be raised. */
export function behind(start: Buffer): Buffer | null {
  if (start.length === 0) return null;
  const next = Buffer.from(start);
  next[next.length - 1]! += 1;
  return next;
}

const COLUMNS = sql`key, size, etag, checksum, modified_at, headers->>'content-type' as content_type`;

const inRange = (bucketId: number, { from, until }: KeyRange): RawBuilder<unknown> =>
  sql`bucket_id = ${bucketId} and key >= ${from} and (${until}::bytea is null or key < ${until})`;

function listFlat(bucketId: number, range: KeyRange, _: ListRequest, limit: number): RawBuilder<Listed> {
  return sql<Listed>`select ${COLUMNS}, 0 as common from s3_object
    where ${inRange(bucketId, range)} order by key limit ${limit}`;
}

/** Each step finds the first key behind the last entry: behind an object, or behind all keys of a common prefix. */
function listFolder(bucketId: number, range: KeyRange, request: ListRequest, limit: number): RawBuilder<Listed> {
  const prefixBytes = sql.lit(keyBytes(request.prefix).length);
  const delimiter = keyBytes(request.delimiter);
  const common = sql`case position(${delimiter}::bytea in substring(key from ${prefixBytes} + 1))
    when 0 then 0
    else ${prefixBytes} + position(${delimiter}::bytea in substring(key from ${prefixBytes} + 1))
      + ${sql.lit(delimiter.length)} - 1 end`;
  const next = sql`case entry.common
    when 0 then entry.key || '\\x00'::bytea
    else set_byte(substring(entry.key from 1 for entry.common), entry.common - 1,
      get_byte(entry.key, entry.common - 1) + 1) end`;
  return sql<Listed>`with recursive entry as (
      (select 1 as number, ${COLUMNS}, ${common} as common from s3_object
        where ${inRange(bucketId, range)} order by key limit 1)
      union all
      select entry.number + 1, following.* from entry, lateral (
        select ${COLUMNS}, ${common} as common from s3_object
          where bucket_id = ${bucketId} and key >= ${next} and (${range.until}::bytea is null or key < ${range.until})
          order by key limit 1
      ) as following where entry.number < ${limit}
    )
    select key, size, etag, checksum, modified_at, content_type, common from entry order by number`;
}

function presentEntry(row: Listed): ListEntry {
  if (row.common > 0) return { kind: 'prefix', prefix: keyText(row.key.subarray(0, row.common)) };
  return {
    kind: 'object',
    object: {
      key: keyText(row.key),
      size: Number(row.size),
      etag: row.etag,
      checksum: row.checksum,
      modifiedAt: row.modified_at,
      contentType: row.content_type ?? NO_TYPE,
    },
  };
}
