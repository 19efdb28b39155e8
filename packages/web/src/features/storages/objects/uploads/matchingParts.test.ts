import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { matchingParts } from './matchingParts.ts';
import { partsOf } from './parts.ts';

const CONTENT = new Uint8Array(3_500_000).map((_, at) => at % 251);
const file = new File([CONTENT], 'f', { lastModified: 7 });
const { signal } = new AbortController();
const stored = partsOf(CONTENT.length, 1_500_000).map((part) => ({
  ...part,
  etag: createHash('md5').update(CONTENT.subarray(part.start, part.end)).digest('hex'),
}));
const numbers = async (parts: typeof stored, lastModified?: number) => {
  const remembered =
    lastModified === undefined
      ? undefined
      : { uploadId: 'u', sizeBytes: CONTENT.length, lastModified, partBytes: 1_500_000 };
  return (await matchingParts(file, parts, { remembered, signal })).map(({ number }) => number);
};

it('keeps the parts that hold the same bytes', async () => {
  expect(await numbers(stored)).toEqual([1, 2, 3]);
  const changed = stored.map((part) => (part.number === 2 ? { ...part, etag: 'other' } : part));
  expect(await numbers(changed)).toEqual([1, 3]);
  expect(await numbers(changed, 8)).toEqual([1, 3]);
});

it('trusts a file that has not changed, but not when its first part differs', async () => {
  const last = stored.map((part) => (part.number === 3 ? { ...part, etag: 'other' } : part));
  expect(await numbers(last, 7)).toEqual([1, 2, 3]);
  const all = stored.map((part) => ({ ...part, etag: 'other' }));
  expect(await numbers(all, 7)).toEqual([]);
});
