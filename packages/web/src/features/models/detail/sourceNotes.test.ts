import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceNote } from './sourceNotes.ts';

const MODELS = new URL('../../../../../perf/src/data/models.json', import.meta.url);

/** All notes of sources in the catalogue, with repetitions. */
function notesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(notesOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'note' && typeof inner === 'string' ? [inner] : notesOf(inner),
  );
}

it('translates most notes of the catalogue', () => {
  const notes = notesOf(JSON.parse(readFileSync(MODELS, 'utf8')));
  const known = notes.filter((note) => sourceNote((text) => text, note) !== null);
  console.log(`notes of sources: n = ${notes.length}, ${known.length} in every language`);
  expect(known.length / notes.length).toBeGreaterThan(0.6);
  expect(
    sourceNote((text, values) => `${text} ${values?.repository}`, 'exact parameter count from stored weights (a/b)'),
  ).toBe('exact parameter count from stored weights ({{repository}}) a/b');
});
