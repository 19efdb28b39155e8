import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import MiniSearch from 'minisearch';
import { describe, expect, it } from 'vitest';
import { checkLinks } from './checkLinks.ts';
import { searchOptions } from './searchOptions.ts';
import { SEARCH_QUESTIONS } from './searchQuestions.ts';
import { content, expectSmallIndex, renderPages } from './testing/writtenPages.ts';

const patterns = Object.values<Route>(ROUTES).map(
  ({ path }) => new RegExp(`^${path.replace(/:id\b/g, '\\d+').replace(/:\w+/g, '[^/]+')}$`),
);
const isRoute = (path: string): boolean => patterns.some((pattern) => pattern.test(path));

const FIRST_HITS = 3;

const pagesIn = (hits: readonly { id: unknown }[]): string[] => hits.map(({ id }) => String(id).split('#')[0] ?? '');

describe('the written pages', () => {
  it('keep to the format and can be rendered', () => renderPages(['en']));

  it('have no link to nowhere', () => {
    const { problems, links } = checkLinks(content, { isRoute });
    console.log(`links: n = ${links} in ${content.paths().length} pages`);
    expect(problems).toEqual([]);
    expect(links).toBeGreaterThan(100);
  });
});

describe('the search', () => {
  it(`answers questions among the first ${FIRST_HITS} hits`, async () => {
    const index = MiniSearch.loadJSON(await content.searchIndex('en'), searchOptions('en'));
    const missed = SEARCH_QUESTIONS.filter(
      ({ question, path }) => !pagesIn(index.search(question)).slice(0, FIRST_HITS).includes(path),
    );
    expect(missed).toEqual([]);
    expect(SEARCH_QUESTIONS.length).toBeGreaterThanOrEqual(50);
  });

  it.each(['en', 'ru'] as const)('has an index for %s that is quickly fetched', expectSmallIndex);
});
