import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BlobMissing, type BlobStore } from './blobStore.ts';
import { openDiskStore } from './diskStore.ts';

let folder: string;
let store: BlobStore;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-disk-store-'));
  store = await openDiskStore(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
async function names(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of store.list(prefix)) found.push(name);
  return found.sort();
}

it.each([
  ['nothing', 0, 1],
  ['one byte', 1, 1],
  ['many small pieces', 1_500_000, 777],
  ['large pieces', 5_000_001, 1_200_000],
])('gives back what was put: %s', async (_what, size, piece) => {
  const bytes = randomBytes(size);
  const name = `given-back/${size}`;
  expect(await store.put(name, pieces(bytes, piece))).toBe(size);
  expect(sha256(await buffer(await store.get(name)))).toBe(sha256(bytes));
  expect(await store.head(name)).toMatchObject({ name, size, modifiedAt: expect.any(Date) });
});

it('reads a range, with both ends', async () => {
  const bytes = randomBytes(2_000_000);
  await store.put('ranged', pieces(bytes, 65_536));
  expect(await buffer(await store.get('ranged', { start: 999_999, end: 1_600_000 }))).toEqual(
    bytes.subarray(999_999, 1_600_001),
  );
});

it('leaves nothing of a body that breaks off, and passes its error on', async () => {
  const before = files().length;
  async function* broken(): AsyncIterable<Uint8Array> {
    yield randomBytes(3_000_000);
    throw new Error('the client has gone');
  }
  await expect(store.put('broken', broken())).rejects.toThrow('the client has gone');
  expect(await store.head('broken')).toBeNull();
  expect(files()).toHaveLength(before);
});

it('says what is missing, and removes it without complaint', async () => {
  await expect(store.get('not-here')).rejects.toThrow(BlobMissing);
  expect(await store.head('not-here')).toBeNull();
  await store.remove('not-here');
});

it('lists names below a prefix, however they are spread over folders', async () => {
  for (const name of ['l/abc', 'l/abc/abc', 'l/abc/abcd', 'l/x', 'l2/y'])
    await store.put(name, pieces(Buffer.from(name), 9));
  expect(await names('l/')).toEqual(['l/abc', 'l/abc/abc', 'l/abc/abcd', 'l/x']);
  expect(await names('l/abc/')).toEqual(['l/abc/abc', 'l/abc/abcd']);
  expect(await names('nowhere/')).toEqual([]);
  expect(await names('')).toEqual(expect.arrayContaining(['l/x', 'l2/y']));
  await store.remove('l/abc');
  expect(await names('l/')).toEqual(['l/abc/abc', 'l/abc/abcd', 'l/x']);
});

it.each(['', '..', '../x', 'a//b', '/a', 'a/', 'A', 'a.b', 'a_b', 'a\0', '.unfinished/x', 'a/b/c/d/e/f'])(
  'refuses the name %j',
  async (name) => {
    await expect(store.put(name, pieces(Buffer.from('x'), 1))).rejects.toThrow('not a blob name');
    await expect(store.get(name)).rejects.toThrow('not a blob name');
    await expect(store.remove(name)).rejects.toThrow('not a blob name');
  },
);

it('lets a reader finish what is removed meanwhile', async () => {
  const bytes = randomBytes(4_000_000);
  await store.put('read-on', pieces(bytes, 65_536));
  const reading = await store.get('read-on');
  await store.remove('read-on');
  expect(sha256(await buffer(reading))).toBe(sha256(bytes));
});

it('clears away at open what a killed process left, and nothing of one that lives', async () => {
  const unfinished = join(folder, '.unfinished');
  const [own] = readdirSync(unfinished);
  const put = Promise.withResolvers<void>();
  async function* slow(): AsyncIterable<Uint8Array> {
    yield Buffer.from('first');
    await put.promise;
    yield Buffer.from('second');
  }
  const writing = store.put('slow', slow());
  await expect.poll(() => readdirSync(join(unfinished, own!))).toHaveLength(1);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(child, 'spawn');
  const [space] = own!.split('-');
  const left = join(unfinished, `${space}-${child.pid}-1`);
  mkdirSync(left);
  writeFileSync(join(left, 'half'), 'half');

  // The number of the process is in use, by one that started at another time.
  await openDiskStore(folder);
  child.kill('SIGKILL');
  expect(readdirSync(unfinished)).toEqual([own]);
  put.resolve();
  expect(await writing).toBe(11);
  expect((await buffer(await store.get('slow'))).toString()).toBe('firstsecond');
});
