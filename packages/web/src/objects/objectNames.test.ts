import fc from 'fast-check';
import { expect, it } from 'vitest';
import { crumbsOf, fileNameOf, isTooLong, nameIn, objectUrl, parentOf, quoted } from './objectNames.ts';

it('leads from the top to a folder by way of every slash, also doubled and leading ones', () => {
  expect(crumbsOf('')).toEqual([]);
  expect(crumbsOf('a/b/')).toEqual([
    { name: 'a', prefix: 'a/' },
    { name: 'b', prefix: 'a/b/' },
  ]);
  expect(crumbsOf('/a//')).toEqual([
    { name: '', prefix: '/' },
    { name: 'a', prefix: '/a/' },
    { name: '', prefix: '/a//' },
  ]);
});

it('loses nothing of any key', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('/', ' ', 'a', 'é', '%', '.'), { maxLength: 12 }), (signs) => {
      const key = signs.join('');
      const parent = parentOf(key);
      expect(parent + nameIn(parent, key)).toBe(key);
      const crumbs = crumbsOf(`${key}/`);
      expect(crumbs.map(({ name }) => `${name}/`).join('')).toBe(`${key}/`);
      expect(crumbs.at(-1)?.prefix).toBe(`${key}/`);
    }),
  );
});

it('finds the folder above', () => {
  expect(parentOf('a/b/c.txt')).toBe('a/b/');
  expect(parentOf('a/b/')).toBe('a/');
  expect(parentOf('a//')).toBe('a/');
  expect(parentOf('a.txt')).toBe('');
});

it('names a file after the end of its key', () => {
  expect(fileNameOf('a/b.txt')).toBe('b.txt');
  expect(fileNameOf('a/b/')).toBe('b');
  expect(fileNameOf('a/..')).toBe('object');
  expect(fileNameOf('//')).toBe('object');
});

it('counts bytes, not characters', () => {
  expect(isTooLong('é'.repeat(512))).toBe(false);
  expect(isTooLong('é'.repeat(513))).toBe(true);
});

it('writes keys for a shell and a URL', () => {
  expect(quoted("it's $HOME")).toBe(`'it'\\''s $HOME'`);
  expect(objectUrl('http://localhost:1', 'b', '/a b+%(1)/é')).toBe('http://localhost:1/b//a%20b%2B%25%281%29/%C3%A9');
});
