import { randomInt } from 'node:crypto';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import type { ListEntry, ListRequest } from '@stagi/s3/backend.ts';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { TestApp } from '../../testing/app.ts';
import { createBucket } from '../buckets.ts';
import { listObjects } from '../listObjects.ts';
import { keyBytes } from '../rows.ts';

const LETTERS = ['a', 'b', '/', '/', '//', 'é', '語', '😀', '\uffff', ' ', '+', '%', '\0', '\x7f', '_', 'B'];

/** A bucket with empty objects of these keys. */
export async function bucketOf(app: TestApp, workspaceId: number, keys: readonly string[]): Promise<number> {
  const name = `listed-${randomInt(2 ** 40)}`;
  const quotaBytes = 1_000_000n;
  const id = await createBucket(app.ctx.db, { name, workspaceId, location: 'local', quotaBytes, isPlatforms: false });
  await sql`insert into s3_object (bucket_id, key, size, etag, blobs, blob_sizes)
    select ${id!}, key, 0, 'e', '{}', '{}' from unnest(${keys.map(keyBytes)}::bytea[]) as key`.execute(app.ctx.db);
  return id!;
}

export const nameOf = (entry: ListEntry): string => (entry.kind === 'prefix' ? entry.prefix : entry.object.key);

/** Compares listings of random keys, by each prefix, delimiter and page size, with what is computed from all keys. */
export async function compareListings(app: TestApp, workspaceId: number, rounds: number): Promise<void> {
  const seed = newSeed();
  console.log(`listing: seed ${seed}`);
  const next = seeded(seed);
  const random = (below: number): number => Math.floor(next() * below);
  const text = (most: number) => Array.from({ length: random(most) }, () => LETTERS[random(LETTERS.length)]).join('');
  let cells = 0;
  for (let round = 0; round < rounds; round += 1) {
    const keys = [...new Set(Array.from({ length: 120 }, () => `${text(8)}x`))];
    const bucket = await bucketOf(app, workspaceId, keys);
    for (const delimiter of ['', '/', '//', 'a/', '語'])
      for (const prefix of ['', 'a', '/', 'a/', text(3)])
        for (const limit of [1, 7, 1_000]) {
          const found = await listAll(app, workspaceId, bucket, { prefix, delimiter, limit });
          expect(found, JSON.stringify({ prefix, delimiter, limit })).toEqual(expected(keys, prefix, delimiter));
          cells += 1;
        }
  }
  console.log(`listings compared: n = ${cells}`);
  expect(cells).toBe(rounds * 75);
}

/** All pages, each from the last entry of the one before. */
async function listAll(
  app: TestApp,
  workspaceId: number,
  bucketId: number,
  request: Omit<ListRequest, 'after'>,
): Promise<string[]> {
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

/** The listing that the API promises, computed from all keys. */
function expected(keys: readonly string[], prefix: string, delimiter: string): string[] {
  const entries = new Set<string>();
  for (const key of keys.filter((each) => each.startsWith(prefix))) {
    const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    entries.add(at < 0 ? key : key.slice(0, at + delimiter.length));
  }
  return [...entries].sort((a, b) => Buffer.compare(keyBytes(a), keyBytes(b)));
}
