import { BYTES_PER_MB, sizeOfBase64 } from '@stagi/contract/uploadLimits.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nameOfPasted, pickFiles } from './uploadedFile.ts';

const RULES = { accept: ['image/png', 'image/jpeg'], maxSize: 5, maxFiles: Number.POSITIVE_INFINITY };
const file = (name: string, size = 10, type = 'image/png') => new File([new Uint8Array(size)], name, { type });

it('tells the size of what a base64 text holds', () => {
  let count = 0;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      count += 1;
      expect(sizeOfBase64(Buffer.from(bytes).toString('base64'))).toBe(bytes.length);
    }),
    { numRuns: 300 },
  );
  console.log(`decoded sizes: n = ${count}`);
  expect(count).toBeGreaterThan(0);
});

it('skips names that are listed already, also twice in one choice', () => {
  const picked = pickFiles([file('a.png'), file('b.png'), file('b.png')], [{ fileName: 'a.png' }], RULES);
  expect(picked.taken.map(({ name }) => name)).toEqual(['b.png']);
  expect(picked.listed).toEqual(['a.png', 'b.png']);
});

it('takes only as many as remain under the maximum', () => {
  const files = [file('b.png'), file('a.png'), file('c.png'), file('d.png')];
  const picked = pickFiles(files, [{ fileName: 'a.png' }], { ...RULES, maxFiles: 3 });
  expect(picked.taken.map(({ name }) => name)).toEqual(['b.png', 'c.png']);
  expect(picked.tooMany).toEqual(['d.png']);
});

it('leaves out other types and what is too large, to the byte', () => {
  const picked = pickFiles(
    [
      file('a.svg', 10, 'image/svg+xml'),
      file('b.png', 5 * BYTES_PER_MB),
      file('c.jpg', 5 * BYTES_PER_MB + 1, 'image/jpeg'),
    ],
    [],
    RULES,
  );
  expect(picked.taken.map(({ name }) => name)).toEqual(['b.png']);
  expect(picked.wrongType).toEqual(['a.svg']);
  expect(picked.tooLarge).toEqual(['c.jpg']);
});

it('gives pasted pictures names of their own', () => {
  expect(nameOfPasted(file('image.png'), []).name).toBe('pasted-1.png');
  expect(nameOfPasted(file('image.png'), [{ fileName: 'pasted-1.png' }]).name).toBe('pasted-2.png');
  expect(nameOfPasted(file('desk.png'), []).name).toBe('desk.png');
});
