import { type SearchHit, searchIndexAddress, searchOptions } from '@stagi/content/searchOptions.ts';
import type { Language } from '@stagi/contract/languages.ts';
import MiniSearch from 'minisearch';

export interface Found {
  /** With the place on the page. */
  address: string;
  page: string;
  heading: string;
  excerpt: string;
}

export type Search = (query: string) => Found[];

const loaded = new Map<Language, Promise<Search>>();

/** Fetches the index of a language once. */
export function loadSearch(language: Language): Promise<Search> {
  const known = loaded.get(language);
  if (known) return known;
  const made = fetchSearch(language);
  loaded.set(language, made);
  made.catch(() => loaded.delete(language));
  return made;
}

async function fetchSearch(language: Language): Promise<Search> {
  const reply = await fetch(searchIndexAddress(language));
  if (!reply.ok) throw new Error(`The search index answers ${reply.status}`);
  const index = MiniSearch.loadJSON(await reply.text(), searchOptions(language));
  return (query) =>
    index.search(query).map((hit) => {
      const { id, title, heading, excerpt } = hit as unknown as SearchHit;
      return { address: id, page: title, heading, excerpt };
    });
}
