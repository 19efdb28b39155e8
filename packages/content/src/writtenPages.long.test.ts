import MiniSearch from 'minisearch';
import { expect, it } from 'vitest';
import { searchOptions } from './searchOptions.ts';
import { SEARCH_QUESTIONS } from './searchQuestions.ts';
import { content, expectSmallIndex, renderPages } from './testing/writtenPages.ts';

const QUERY_MS = 10;

it('keeps translations to the format, and renders them', () => renderPages(['cn', 'ru', 'tr']));

it.each(['cn', 'tr'] as const)('has an index for %s that is quickly fetched', expectSmallIndex);

it('writes each page in each language as Markdown', async () => {
  let count = 0;
  for (const { path, languages } of content.paths()) {
    for (const language of languages) {
      expect(await content.markdown(path, language), `${path} ${language}`).toMatch(/^# \S/);
      count += 1;
    }
  }
  console.log(`written pages as Markdown: n = ${count}`);
});

it('answers a search of the written pages at once', async () => {
  const index = MiniSearch.loadJSON(await content.searchIndex('en'), searchOptions('en'));
  const times = SEARCH_QUESTIONS.map(({ question }) => {
    const start = performance.now();
    index.search(question);
    return performance.now() - start;
  }).sort((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY;
  console.log(
    `search: n = ${times.length} questions, median ${median.toFixed(2)} ms, slowest ${times.at(-1)?.toFixed(2)} ms`,
  );
  expect(median).toBeLessThan(QUERY_MS);
});
