import { randomInt } from 'node:crypto';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import type { ListEntry, ListRequest } from '@stagi/s3/backend.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Db } from '../db/schema.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { createBucket } from './buckets.ts';
import { listObjects } from './listObjects.ts';
import { keyBytes } from './rows.ts';

let app: TestApp;
let workspaceId: number;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  ({ workspaceId } = await app.signUp());
});
afterAll(() => app.close());

async function bucketOf(keys: readonly string[]): Promise<number> {
  const name = `listed-${randomInt(2 ** 40)}`;
  const quotaBytes = 1_000_000n;
  const id = await createBucket(app.ctx.db, { name, workspaceId, location: 'local', quotaBytes, isPlatforms: false });
  await sql`insert into s3_object (bucket_id, key, size, etag, blobs, blob_sizes)
    select ${id!}, key, 0, 'e', '{}', '{}' from unnest(${keys.map(keyBytes)}::bytea[]) as key`.execute(app.ctx.db);
  return id!;
}

const nameOf = (entry: ListEntry): string => (entry.kind === 'prefix' ? entry.prefix : entry.object.key);

/** All pages, each from the last entry of the one before. */
async function listAll(bucketId: number, request: Omit<ListRequest, 'after'>): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await listObjects(app.ctx.within(workspaceId), bucketId, { ...request, after });
    const names: string[] = page.entries.map(nameOf);
    expect(names.length).toBeLessThanOrEqual(request.limit);
    found.push(...names);
    if (!page.isTruncated) return found;
    expect(names).toHaveLength(request.limit);
    after = names.at(-1)!;
  }
}

/** What the API promises, computed from all keys. */
function expected(keys: readonly string[], prefix: string, delimiter: string): string[] {
  const entries = new Set<string>();
  for (const key of keys.filter((each) => each.startsWith(prefix))) {
    const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    entries.add(at < 0 ? key : key.slice(0, at + delimiter.length));
  }
  return [...entries].sort((a, b) => Buffer.compare(keyBytes(a), keyBytes(b)));
}

it('lists any keys by any prefix, delimiter and page size as computed from all keys', async () => {
  const seed = newSeed();
  console.log(`listing: seed ${seed}`);
  const next = seeded(seed);
  const random = (below: number): number => Math.floor(next() * below);
  const letters = ['a', 'b', '/', '/', '//', 'é', '語', '😀', '\uffff', ' ', '+', '%', '\0', '\x7f', '_', 'B'];
  const text = (most: number) => Array.from({ length: random(most) }, () => letters[random(letters.length)]).join('');
  let cells = 0;
  for (let round = 0; round < 6; round += 1) {
    const keys = [...new Set(Array.from({ length: 120 }, () => `${text(8)}x`))];
    const bucket = await bucketOf(keys);
    for (const delimiter of ['', '/', '//', 'a/', '語'])
      for (const prefix of ['', 'a', '/', 'a/', text(3)])
        for (const limit of [1, 7, 1_000]) {
          const found = await listAll(bucket, { prefix, delimiter, limit });
          expect(found, JSON.stringify({ prefix, delimiter, limit })).toEqual(expected(keys, prefix, delimiter));
          cells += 1;
        }
  }
  console.log(`listings compared: n = ${cells}`);
  expect(cells).toBe(450);
});

it('goes on after any marker, also one that is no key', async () => {
  const bucket = await bucketOf(['a', 'b/1', 'b/2', 'c', 'd/']);
  const names = async (after: string | null, delimiter: string) =>
    (await listObjects(app.ctx.db, bucket, { prefix: '', delimiter, after, limit: 10 })).entries.map(nameOf);
  expect(await names('aa', '')).toEqual(['b/1', 'b/2', 'c', 'd/']);
  expect(await names('b/1', '')).toEqual(['b/2', 'c', 'd/']);
  expect(await names('b/', '/')).toEqual(['c', 'd/']);
  expect(await names('b', '/')).toEqual(['b/', 'c', 'd/']);
  expect(await names('b/1', '/')).toEqual(['b/', 'c', 'd/']);
  expect(await names('zz', '/')).toEqual([]);
});

it('jumps over what lies below a common prefix', async () => {
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  const bucket = await bucketOf([...many.map((n) => `large/${n}`), ...many.map((n) => `other/${n}`), 'last']);
  await sql`analyze s3_object`.execute(app.ctx.db);
  const readOf = (delimiter: string) =>
    app.ctx.db.connection().execute(async (db) => {
      const before = await tuplesRead(db);
      const { entries } = await listObjects(db, bucket, { prefix: '', delimiter, after: null, limit: 1_000 });
      return { names: entries.map(nameOf), read: (await tuplesRead(db)) - before };
    });
  expect(await readOf('')).toMatchObject({ read: 1_001 });
  const folder = await readOf('/');
  expect(folder.names).toEqual(['large/', 'last', 'other/']);
  expect(folder.read).toBeLessThanOrEqual(4);
});

/** Rows of objects that this connection has read. */
async function tuplesRead(db: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ read: bigint }>`select seq_tup_read + idx_tup_fetch as read
    from pg_stat_user_tables where relname = 's3_object'`.execute(db);
  return Number(rows[0]!.read);
}
