import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseBlame } from './blame.ts';
import { lfsPointerOf, textOf } from './blobs.ts';
import { createAnswerParser, type StoredObject } from './catFile.ts';
import { parseChanges, patchHeader, splitPatches } from './diff.ts';
import { parseGrep } from './grep.ts';
import { type Change, createChangesParser } from './lastCommits.ts';
import { parseCommit, parseSignature, parseTree } from './parseObjects.ts';
import { isEntryName, isRefName, splitPath } from './paths.ts';
import { parseSubmodules } from './submodules.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

describe('answers of git cat-file', () => {
  const output = Buffer.from(`${A} blob 5\nab\ncd\n${B} missing\n${B} tree 7\n${A} commit 0\n\n`);
  const expected = [
    { type: 'blob', size: 5, content: 'ab\ncd' },
    null,
    { type: 'tree', size: 7, content: '' },
    { type: 'commit', size: 0, content: '' },
  ];

  it('are read whatever the chunks end at', () => {
    for (let size = 1; size <= output.length; size += 1) {
      const questions = [true, true, false, true];
      const answers: (StoredObject | null)[] = [];
      const parse = createAnswerParser(
        () => questions[answers.length]!,
        (answer) => answers.push(answer),
      );
      for (let at = 0; at < output.length; at += size) parse(output.subarray(at, at + size));
      expect(answers.map((one) => one && { ...one, content: one.content.toString() })).toEqual(expected);
    }
  });

  it('that are none are refused', () => {
    expect(() =>
      createAnswerParser(
        () => false,
        () => {},
      )(Buffer.from('fatal: x\n')),
    ).toThrow('unexpected answer');
  });
});

it('reads trees, also with names that are no text, and refuses one that is cut off', () => {
  const entry = Buffer.concat([
    Buffer.from('40000 a b\0'),
    Buffer.from(A, 'hex'),
    Buffer.from('100644 \xff\0', 'latin1'),
    Buffer.from(B, 'hex'),
  ]);
  expect(parseTree(entry).map(({ mode, name, sha }) => [mode, name, sha])).toEqual([
    ['040000', 'a b', A],
    ['100644', '\\xFF', B],
  ]);
  expect(() => parseTree(entry.subarray(0, -1))).toThrow('cut off');
});

it('reads commits, with signatures, other encodings and missing parts', () => {
  const content = Buffer.from(
    `tree ${A}\nparent ${B}\nauthor J\xf6rg <j@x> 1700000000 +0100\ncommitter X <> 5 -0000\nencoding ISO-8859-1\ngpgsig -----BEGIN\n parent ${A}\n -----END\n\nTitl\xe9\n\nBody\n`,
    'latin1',
  );
  expect(parseCommit(A, { content })).toMatchObject({
    tree: A,
    parents: [B],
    author: { name: 'Jörg', email: 'j@x', at: new Date(1_700_000_000_000) },
    title: 'Titlé',
    body: 'Body',
  });
  expect(parseCommit(A, { content: Buffer.from(`tree ${A}\n`) })).toMatchObject({ parents: [], title: '', body: '' });
  expect(parseSignature('no address')).toMatchObject({ name: 'no address', email: '' });
  expect(parseSignature('A <a> 99999999999999999999 +0000').at.getTime()).not.toBeNaN();
});

it('reads lists of changes: renamed files, binary ones, names with tabs', () => {
  const raw = `:100644 100644 ${A} ${B} M\0a\tb\0:100644 100644 ${A} ${A} R100\0old\0new\0:000000 100644 ${A} ${B} A\0bin\0`;
  const { changes, counts } = parseChanges(Buffer.from(`${raw}1\t2\ta\tb\0${'0\t0\t'}\0old\0new\0-\t-\tbin\0`));
  expect(changes).toMatchObject([
    { status: 'modified', path: 'a\\tb' },
    { status: 'renamed', oldPath: 'old', path: 'new' },
    { status: 'added', path: 'bin', oldSha: null, oldMode: null },
  ]);
  expect([...counts]).toEqual([
    ['a\\tb', { additions: 1, deletions: 2 }],
    ['new', { additions: 0, deletions: 0 }],
    ['bin', null],
  ]);
});

it('reads the changes of a history whatever the chunks end at, and refuses what is none', () => {
  const one = `:100644 000000 ${A} ${B} M\0${A}\0:040000 040000 ${B} ${A} M\0d\0`;
  const merge = `::100644 100755 100644 ${A} ${A} ${B} MM\0a\tb\0`;
  const output = Buffer.from(`${A}\0\n${one}${B}\0\0${A}\0${B}\0\n${merge}`);
  for (let size = 1; size <= output.length; size += 1) {
    const changes: Change[] = [];
    const parse = createChangesParser((change) => changes.push(change));
    for (let at = 0; at < output.length; at += size) parse(output.subarray(at, at + size));
    expect(changes).toEqual([
      { sha: A, path: A, mode: '000000', object: B },
      { sha: A, path: 'd', mode: '040000', object: A },
      { sha: B, path: 'a\tb', mode: '100644', object: B },
    ]);
  }
  expect(() => createChangesParser(() => {})(Buffer.from('fatal: x\0'))).toThrow('unexpected answer');
});

it('divides patches by their first lines, not by what a file contains', () => {
  const one = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-diff --git a/y b/y\n+z\n';
  const two = 'diff --git "a/t\\tq\\"" "b/t\\tq\\""\nnew file\n';
  expect([...splitPatches(Buffer.from(one + two)).values()]).toEqual([one, two]);
  expect(splitPatches(Buffer.from(two)).has(patchHeader({ path: 't\\tq"', oldPath: null }))).toBe(true);
});

it('reads blame, search results, pointers and submodules', () => {
  const blame = `${A} 1 3 2\nauthor X\nfilename a\n${B} 9 1 2\nfilename "t\\tq\\303\\266"\n`;
  expect(parseBlame(blame)).toEqual([
    { sha: B, line: 1, lines: 2, path: 't\\tqö' },
    { sha: A, line: 3, lines: 2, path: 'a' },
  ]);
  const found = Buffer.from(
    `${A}:a:b\0${1}\0x\n${A}:a:b\0${2}\0x\n${A}:c\0${1}\0${'y'.repeat(400)}x\n${A}:d\0${1}\0cut`,
  );
  const { files, isMore } = parseGrep(
    found,
    { commit: A, query: 'x', matchCase: false },
    { files: 5, linesPerFile: 1 },
  );
  expect(isMore).toBe(false);
  expect(files[0]).toEqual({ path: 'a:b', lines: [{ line: 1, text: 'x' }], isMore: true });
  expect(files[1]!.lines[0]!.text).toMatch(/^…y+x$/);
  expect(lfsPointerOf(Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:xyz\nsize 1\n'))).toBeNull();
  expect(textOf(Buffer.from([0]))).toBeNull();
  expect(
    parseSubmodules(Buffer.from('submodule.a.b.path\nvendor\0submodule.a.b.url\nhttps://x\0submodule.c.url\ny\0')),
  ).toEqual(new Map([['vendor', 'https://x']]));
});

it('accepts the names of branches that git accepts, but none with a leading hyphen', () => {
  const names = [
    'main',
    'a/b',
    'a.b',
    'ä',
    'a..b',
    'a/.b',
    'a.lock',
    'a/b.lock/c',
    '@',
    'a@{b',
    '@x',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    'a.',
    'a\x7f',
    '{a}',
    'a@',
  ];
  for (const name of names) {
    const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${name}`]);
    expect([name, isRefName(name)]).toEqual([name, status === 0 && name !== '@']);
  }
  expect(isRefName('-x')).toBe(false);
  console.log(`names of branches compared with git: n = ${names.length}`);
});

it('divides paths and refuses parts that a file system or git would understand otherwise', () => {
  expect(splitPath('')).toEqual([]);
  expect(splitPath('a/b c/:(top)')).toEqual(['a', 'b c', ':(top)'].map((name) => Buffer.from(name)));
  for (const path of [
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    '.git',
    'a/.GIT',
    '.git.',
    'git~1',
    'a\\b',
    'a\\',
    'a\\x4',
    'a\0',
    'a\\x00',
    'a\\x2Fb',
    '\\x2E\\x2E',
    '\\x2Egit',
  ])
    expect([path, splitPath(path)]).toEqual([path, null]);
  expect(['.gitignore', '.github', 'git', '...', ' '].every((name) => isEntryName(Buffer.from(name)))).toBe(true);
});
