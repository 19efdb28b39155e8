import parseDiff from 'parse-diff';
import { describe, expect, it } from 'vitest';
import { changedParts } from './changedParts.ts';
import { type DiffRow, splitRows, unifiedRows } from './diffRows.ts';

const chunksOf = (...lines: string[]) =>
  parseDiff(['diff --git a/f b/f', '--- a/f', '+++ b/f', ...lines].join('\n'))[0]?.chunks ?? [];

const shown = (rows: readonly DiffRow[]) =>
  rows.map((row) =>
    row.kind === 'hunk'
      ? row.text
      : `${row.before ? `${row.before.number}${row.before.text}` : '-'} | ${row.after ? `${row.after.number}${row.after.text}` : '-'}`,
  );

describe('the rows of a diff', () => {
  const chunks = chunksOf('@@ -1,4 +1,3 @@ f()', ' a', '-b', '-c', '+B', ' d');

  it('stand beside each other where lines are replaced', () => {
    expect(shown(splitRows(chunks))).toEqual(['@@ -1,4 +1,3 @@ f()', '1a | 1a', '2b | 2B', '3c | -', '4d | 3d']);
  });

  it('stand below each other, what is removed first', () => {
    expect(shown(unifiedRows(chunks))).toEqual([
      '@@ -1,4 +1,3 @@ f()',
      '1a | 1a',
      '2b | -',
      '3c | -',
      '- | 2B',
      '4d | 3d',
    ]);
  });

  it('are right where the text itself looks like a diff', () => {
    const odd = chunksOf('@@ -1,3 +1,3 @@', '--- a/f', '-@@ -1 +1 @@', '+++ b/f', '+diff --git a/x b/x', ' end');
    expect(shown(splitRows(odd)).slice(1)).toEqual([
      '1-- a/f | 1++ b/f',
      '2@@ -1 +1 @@ | 2diff --git a/x b/x',
      '3end | 3end',
    ]);
  });

  it('say where a file ends without a line break', () => {
    const rows = splitRows(
      chunksOf('@@ -1 +1 @@', '-a', '\\ No newline at end of file', '+a', '\\ No newline at end of file'),
    );
    expect(rows[1]).toMatchObject({ before: { endsOpen: true }, after: { endsOpen: true } });
    const one = splitRows(chunksOf('@@ -1 +1 @@', '-a', '+a', '\\ No newline at end of file'));
    expect(one[1]).toMatchObject({ before: { endsOpen: false }, after: { endsOpen: true } });
  });
});

describe('the changed part of a line', () => {
  const marked = (before: string, after: string) => {
    const found = changedParts(before, after);
    const words = (parts: readonly { text: string; isChanged: boolean }[] | undefined) =>
      parts?.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('');
    return found && [words(found.before), words(found.after)];
  };

  it('is in whole words, between what stayed', () => {
    expect(marked('const size = 10;', 'const size = 120;')).toEqual(['const size = [10];', 'const size = [120];']);
    expect(marked('f(a)', 'f(a, b)')).toEqual(['f(a)', 'f(a[, b])']);
    expect(marked('aa', 'aa')).toEqual(['aa', 'aa']);
  });

  it('is not marked where little stayed', () => {
    expect(marked('one two three', 'four five six')).toBeNull();
  });
});
