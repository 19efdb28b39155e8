import { readFileSync } from 'node:fs';
import { TOKEN_KINDS } from '@stagi/contract/tokenKinds.ts';
import { describe, expect, it } from 'vitest';
import { highlightLines, type LineTokens } from './highlightLines.ts';
import { languageNamed, languageOf } from './languageOf.ts';
import { GRAMMARS, type Language } from './languages.ts';

async function all(text: string, language: Language): Promise<LineTokens[]> {
  const lines: LineTokens[] = [];
  for await (const some of highlightLines(text, language)) lines.push(...some);
  return lines;
}

const kindsOf = (text: string, tokens: LineTokens): [string, string][] => {
  const found: [string, string][] = [];
  let at = 0;
  for (let index = 0; index < tokens.length; index += 2) {
    const length = tokens[index] ?? 0;
    found.push([text.slice(at, at + length), TOKEN_KINDS[tokens[index + 1] ?? 0] ?? '']);
    at += length;
  }
  return found;
};

describe('highlighting', () => {
  it('names what the pieces of a line are', async () => {
    const [line = []] = await all('def f(x): # note', 'python');
    const kinds = kindsOf('def f(x): # note', line);
    expect(kinds).toContainEqual(['f', 'function']);
    expect(kinds.at(-1)).toEqual(['# note', 'comment']);
  });

  it('carries a comment over the places where the text is taken apart', async () => {
    const text = `/*\n${'inside\n'.repeat(450)}*/ let a = 1;`;
    const lines = await all(text, 'typescript');
    expect(lines).toHaveLength(452);
    for (const line of lines.slice(1, 451)) expect(line).toEqual([6, TOKEN_KINDS.indexOf('comment')]);
    expect(kindsOf('*/ let a = 1;', lines[451] ?? [])).toContainEqual(['let', 'keyword']);
  });

  it('covers every line to its end, whatever ends it', async () => {
    const text = 'const a = "é\u{1F600}";\r\n\r\n\tb\u2028c\n';
    const lines = await all(text, 'javascript');
    const lengths = lines.map((tokens) => tokens.filter((_, at) => at % 2 === 0).reduce((sum, one) => sum + one, 0));
    expect(lengths).toEqual(text.split('\n').map((line) => line.length));
  });

  it('leaves very long lines without colours', async () => {
    const line = 'a=1;'.repeat(50_000);
    expect(await all(line, 'javascript')).toEqual([[line.length, 0]]);
  });

  it.each(Object.keys(GRAMMARS) as Language[])('can load %s', async (language) => {
    expect(await all('a "b" 1\n', language)).toHaveLength(2);
  });
});

describe('the language of a file', () => {
  it.each([
    ['src/a.TS', 'typescript'],
    ['Dockerfile', 'docker'],
    ['Dockerfile.gpu', 'docker'],
    ['kernel.cu', 'cpp'],
    ['CMakeLists.txt', 'cmake'],
    ['notes', null],
    ['constructor', null],
    ['a.__proto__', null],
    ['.', null],
  ])('%s is %s', (name, language) => {
    expect(languageOf(name)).toBe(language);
  });

  it('is told by the first line where the name says nothing', () => {
    expect(languageOf('run', '#!/usr/bin/env python3\n')).toBe('python');
    expect(languageOf('run', '#!/bin/sh\n')).toBe('shellscript');
  });

  it('is what a code fence says', () => {
    expect(languageNamed('PY')).toBe('python');
    expect(languageNamed('toString')).toBeNull();
  });

  it('is one that has a grammar', () => {
    const source = readFileSync(new URL('./languageOf.ts', import.meta.url), 'utf8');
    const listed = [...source.matchAll(/words\('([\w-]+)', '([^']+)'\)/g)];
    expect(listed.map(([, language]) => language).toSorted()).toEqual(Object.keys(GRAMMARS).toSorted());
  });
});
