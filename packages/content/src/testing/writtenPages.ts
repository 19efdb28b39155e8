import type { Language } from '@stagi/contract/languages.ts';
import MiniSearch from 'minisearch';
import { expect } from 'vitest';
import { ContentError } from '../ContentError.ts';
import { loadContent } from '../content.ts';
import { searchOptions } from '../searchOptions.ts';

/** The pages of `content/` themselves. */
export const content = loadContent(new URL('../../../../content', import.meta.url).pathname);

/** In bytes, before compression. */
const INDEX_SIZE = 700_000;

/** Renders each page that was written in one of these languages; expects that it keeps to the format. */
export async function renderPages(rendered: readonly Language[]): Promise<void> {
  const problems: string[] = [];
  let count = 0;
  for (const { path, languages } of content.paths()) {
    for (const language of languages) {
      if (!rendered.includes(language) || content.written(path, language)?.source.isReference) continue;
      count += 1;
      try {
        const page = await content.page(path, language);
        expect(page?.text[0], path).toHaveProperty('tag');
        // A long test writes all languages as Markdown.
        if (language === 'en') expect(await content.markdown(path, language)).toMatch(/^# \S/);
      } catch (error) {
        if (!(error instanceof ContentError)) throw error;
        problems.push(...error.problems);
      }
    }
  }
  console.log(`written pages: n = ${count} in ${rendered.join(', ')}`);
  expect(count).toBeGreaterThan(0);
  expect(problems).toEqual([]);
}

/** Expects that the search index of a language is quickly fetched. */
export async function expectSmallIndex(language: Language): Promise<void> {
  const json = await content.searchIndex(language);
  const size = Buffer.byteLength(json);
  const { documentCount } = MiniSearch.loadJSON(json, searchOptions(language));
  console.log(`search index ${language}: ${Math.round(size / 1000)} kB, ${documentCount} parts`);
  expect(size).toBeLessThan(INDEX_SIZE);
}
