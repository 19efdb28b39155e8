import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { openDiskStore } from '@stagi/s3/diskStore.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { belongsToUs } from './belongsToUs.ts';

let folder: string;
let store: BlobStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-marker-'));
  store = await openDiskStore(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const [ours, others] = [randomUUID(), randomUUID()];

it('marks a store that nobody has marked, and refuses it to others from then on', async () => {
  expect(await belongsToUs(store, ours)).toBe(true);
  expect(await store.head(`installation/${ours}`)).not.toBeNull();
  expect(await belongsToUs(store, others)).toBe(false);
  expect(await store.head(`installation/${others}`)).toBeNull();
  expect(await belongsToUs(store, ours)).toBe(true);
});

it('gives a store to nobody when two have marked it', async () => {
  const atOnce: BlobStore = {
    ...store,
    async put(name, body) {
      const size = await store.put(name, body);
      await store.put(`installation/${others}`, (async function* () {})());
      return size;
    },
  };
  expect(await belongsToUs(atOnce, ours)).toBe(false);
  expect(await belongsToUs(store, others)).toBe(false);
  // An operator removes the wrong mark.
  await store.remove(`installation/${others}`);
  expect(await belongsToUs(store, ours)).toBe(true);
});
