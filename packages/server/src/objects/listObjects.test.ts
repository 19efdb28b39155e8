import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Db } from '../db/schema.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { listObjects } from './listObjects.ts';
import { bucketOf as aBucketOf, compareListings, nameOf } from './testing/compareListings.ts';

let app: TestApp;
let workspaceId: number;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  ({ workspaceId } = await app.signUp());
});
afterAll(() => app.close());

const bucketOf = (keys: readonly string[]): Promise<number> => aBucketOf(app, workspaceId, keys);

it('lists any keys by any prefix, delimiter and page size as computed from all keys', async () => {
  await compareListings(app, workspaceId, 2);
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

it('lists below its prefix alone, also from a marker before it', async () => {
  const bucket = await bucketOf(['a', 'ab', 'b/1', 'b/2/3', 'c']);
  const names = async (after: string, delimiter: string) =>
    (await listObjects(app.ctx.db, bucket, { prefix: 'b/', delimiter, after, limit: 10 })).entries.map(nameOf);
  expect(await names('a', '')).toEqual(['b/1', 'b/2/3']);
  expect(await names('a', '/')).toEqual(['b/1', 'b/2/']);
  expect(await names('c', '')).toEqual([]);
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
