import { LANGUAGES, type Language } from '@stagi/contract/languages.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import MiniSearch from 'minisearch';
import { describe, expect, it } from 'vitest';
import { ContentError } from './ContentError.ts';
import { checkLinks } from './checkLinks.ts';
import { loadContent } from './content.ts';
import { searchOptions } from './searchOptions.ts';
import { SEARCH_QUESTIONS } from './searchQuestions.ts';

/** The pages of `content/` themselves. */
const content = loadContent(new URL('../../../content', import.meta.url).pathname);
const paths = content.paths();

const patterns = Object.values<Route>(ROUTES).map(
  ({ path }) => new RegExp(`^${path.replace(/:id\b/g, '\\d+').replace(/:\w+/g, '[^/]+')}$`),
);
const isRoute = (path: string): boolean => patterns.some((pattern) => pattern.test(path));

/** In bytes, before compression. */
const INDEX_SIZE = 700_000;
const FIRST_HITS = 3;

async function searchIn(language: Language) {
  const json = await content.searchIndex(language);
  const index = MiniSearch.loadJSON(json, searchOptions(language));
  return { size: Buffer.byteLength(json), index, pagesOf: (question: string) => pagesIn(index.search(question)) };
}

const pagesIn = (hits: readonly { id: unknown }[]): string[] => hits.map(({ id }) => String(id).split('#')[0] ?? '');

describe('the written pages', () => {
  it('keep to the format and can be rendered', async () => {
    const problems: string[] = [];
    let count = 0;
    for (const { path, languages } of paths) {
      for (const language of languages) {
        if (content.written(path, language)?.source.isReference) continue;
        count += 1;
        try {
          const page = await content.page(path, language);
          expect(page?.text[0], path).toHaveProperty('tag');
          // The translations follow in the long tests.
          if (language === 'en') expect(await content.markdown(path, language)).toMatch(/^# \S/);
        } catch (error) {
          if (!(error instanceof ContentError)) throw error;
          problems.push(...error.problems);
        }
      }
    }
    console.log(`written pages: n = ${count}`);
    expect(problems).toEqual([]);
  });

  it('have no link to nowhere', () => {
    const { problems, links } = checkLinks(content, { isRoute });
    console.log(`links: n = ${links} in ${paths.length} pages`);
    expect(problems).toEqual([]);
    expect(links).toBeGreaterThan(100);
  });
});

describe('the search', () => {
  it(`answers questions among the first ${FIRST_HITS} hits`, async () => {
    const { pagesOf } = await searchIn('en');
    const missed = SEARCH_QUESTIONS.filter(
      ({ question, path }) => !pagesOf(question).slice(0, FIRST_HITS).includes(path),
    );
    expect(missed).toEqual([]);
    expect(SEARCH_QUESTIONS.length).toBeGreaterThanOrEqual(50);
  });

  it.each(LANGUAGES)('has an index for %s that is quickly fetched', async (language) => {
    const { size, index } = await searchIn(language);
    console.log(`search index ${language}: ${Math.round(size / 1000)} kB, ${index.documentCount} parts`);
    expect(size).toBeLessThan(INDEX_SIZE);
  });
});
