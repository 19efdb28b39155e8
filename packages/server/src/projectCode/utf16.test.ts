import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aProjectWith } from './testing/aRepository.ts';

let app: TestApp;
let owner: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp('Ada');
});
afterAll(() => app?.close());

const little = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
const big = (text: string): Buffer => little(text).swap16();
const [OLD, NEW] = ['one\nzwei Köln\ndrei\n', 'one\nzwei Łódź\ndrei\n'];
const CHANGED = '-zwei Köln\n+zwei Łódź\n';

/** Both sides of a file, and what is shown: the encoding, what the patch contains (null: no lines), or `binary`. */
const FILES: Record<
  string,
  [
    before: Buffer | null,
    after: Buffer | null,
    shown: 'binary' | { encoding: string | undefined; patch: string | null },
  ]
> = {
  'little.txt': [little(OLD), little(NEW), { encoding: 'utf-16le', patch: CHANGED }],
  'big.txt': [big(OLD), big(NEW), { encoding: 'utf-16be', patch: CHANGED }],
  'turned.txt': [big(OLD), little(NEW), { encoding: 'utf-16le', patch: CHANGED }],
  'to-utf8.txt': [little(OLD), Buffer.from(NEW), { encoding: 'utf-16le', patch: CHANGED }],
  'from-utf8.txt': [Buffer.from(OLD), big(NEW), { encoding: 'utf-16be', patch: CHANGED }],
  'same-text.txt': [Buffer.from(OLD), little(OLD), { encoding: 'utf-16le', patch: null }],
  'new.txt': [null, little('a\nb\n'), { encoding: 'utf-16le', patch: '+a\n+b\n' }],
  'gone.txt': [big('a\nb\n'), null, { encoding: 'utf-16be', patch: '-a\n-b\n' }],
  'windows.rc': [little('a\r\nb\r\n'), little('a\r\nc\r\n'), { encoding: 'utf-16le', patch: '-b\r\n+c\r\n' }],
  'emoji.txt': [little('😀\n'), little('😃\n'), { encoding: 'utf-16le', patch: '-😀\n+😃\n' }],
  'utf8.txt': [Buffer.from(OLD), Buffer.from(NEW), { encoding: undefined, patch: CHANGED }],
  'no-mark.txt': [little(OLD).subarray(2), little(NEW).subarray(2), 'binary'],
  'utf32.txt': [
    Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]),
    Buffer.from([0xff, 0xfe, 0, 0, 0x62, 0, 0, 0]),
    'binary',
  ],
  'became-binary.bin': [little(OLD), Buffer.from([1, 0, 2]), 'binary'],
};

it('compares texts in UTF-16 line by line, and says what they are', async () => {
  const side = (n: 0 | 1) => Object.fromEntries(Object.entries(FILES).map(([name, sides]) => [name, sides[n]]));
  const before = Object.fromEntries(Object.entries(side(0)).filter(([, content]) => content !== null));
  const { id } = await aProjectWith(app, owner, 'utf16', [
    { message: 'before', files: before },
    { message: 'after', files: side(1) },
  ]);
  const { files, totals } = await owner.client(api.projectCode.commit, { id });
  for (const [path, [, , shown]] of Object.entries(FILES)) {
    const file = files.find((one) => one.path === path)!;
    if (shown === 'binary') {
      expect(file).toMatchObject({ isBinary: true, patch: null, additions: null });
      expect(file.encoding).toBeUndefined();
      continue;
    }
    expect([path, file.isBinary, file.encoding, file.isCut]).toEqual([path, false, shown.encoding, false]);
    if (shown.patch === null) expect([file.patch, file.additions, file.deletions]).toEqual([null, 0, 0]);
    else expect(file.patch).toContain(shown.patch);
  }
  const known = files.filter(({ isBinary }) => !isBinary);
  expect(totals.additions).toBe(known.reduce((sum, { additions }) => sum + additions!, 0));
  const { files: blank } = await owner.client(api.projectCode.commit, {
    id,
    ignoreWhitespace: true,
    path: 'little.txt',
  });
  expect(blank[0]!.patch).toContain(CHANGED);
  const { content } = await owner.client(api.projectCode.blob, { id, path: 'big.txt' });
  expect(content).toEqual({ kind: 'text', text: NEW, encoding: 'utf-16be' });
  console.log(`texts in UTF-16: n = ${Object.keys(FILES).length}`);
});
