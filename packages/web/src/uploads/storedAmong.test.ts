import type { StorageObject } from '@stagi/contract/storages.ts';
import { expect, it } from 'vitest';
import type { ObjectPage } from '../objects/objectSource.ts';
import { storedAmong } from './storedAmong.ts';

const { signal } = new AbortController();

/** Lists keys one level below a prefix, a few at a time. */
function bucket(keys: readonly string[], atOnce: number) {
  const asked: string[] = [];
  return {
    asked,
    async list({ prefix, after = '' }: ObjectPage) {
      asked.push(prefix);
      const levels = keys
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(0, key.indexOf('/', prefix.length) + 1 || Number.POSITIVE_INFINITY));
      const rest = [...new Set(levels)].toSorted().filter((key) => key > after);
      const page = rest.slice(0, atOnce);
      return {
        folders: page.filter((key) => key.endsWith('/')),
        objects: page.filter((key) => !key.endsWith('/')).map((key) => ({ key }) as StorageObject),
        next: rest.length > atOnce ? (page.at(-1) ?? null) : null,
      };
    },
  };
}

const STORED = ['in/a.txt', 'in/b.txt', 'in/sub/a.txt', 'in/sub/deep/x', 'in/other/y', 'a.txt', 'in/😀.txt', 'in/😁'];

it('finds what is stored in the folder and below it, page by page', async () => {
  const paths = ['a.txt', 'new', 'sub/a.txt', 'sub/new', 'sub/deep/x', 'gone/deeper/z', 'other', '😀.txt', '😁'];
  for (const atOnce of [1, 2, 1_000]) {
    const { list } = bucket(STORED, atOnce);
    const found = await storedAmong({ list }, 'in/', paths, signal);
    expect([...found.keys()].toSorted(), `${atOnce} at once`).toEqual(
      ['in/a.txt', 'in/sub/a.txt', 'in/sub/deep/x', 'in/😀.txt', 'in/😁'].toSorted(),
    );
  }
});

it('asks for folders that are there only, and for the beginning that all names have', async () => {
  const { list, asked } = bucket(STORED, 1_000);
  await storedAmong({ list }, 'in/', ['sub/deep/x', 'sub/deeper/x', 'sub/deeper/still/x'], signal);
  expect(asked).toEqual(['in/sub', 'in/sub/deep', 'in/sub/deep/x']);
});

it('does not cut a character in two', async () => {
  const { list, asked } = bucket(STORED, 1_000);
  const found = await storedAmong({ list }, 'in/', ['😀.txt', '😁'], signal);
  expect(asked).toEqual(['in/']);
  expect(found.size).toBe(2);
});
