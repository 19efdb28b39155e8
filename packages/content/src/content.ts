import type { ContentEntry, ContentLink, ContentPage, ContentSection } from '@stagi/contract/content.ts';
import { LANGUAGES, type Language } from '@stagi/contract/languages.ts';
import MiniSearch from 'minisearch';
import { ContentError, problemAt } from './ContentError.ts';
import { llmsTxt } from './llmsTxt.ts';
import { type ParsedPage, parsePage } from './parsePage.ts';
import { fillText, type Places } from './places.ts';
import { plainMarkdown } from './plainMarkdown.ts';
import { readSources } from './readSources.ts';
import { referenceSources } from './reference/referenceSources.ts';
import { fillPlaces, renderText } from './renderText.ts';
import type { Source } from './Source.ts';
import { searchDocuments } from './searchDocuments.ts';
import { searchOptions } from './searchOptions.ts';

export interface WrittenPage {
  source: Source;
  /** Throws `ContentError`. */
  parsed(): ParsedPage;
}

export interface Content {
  /** In reading order (docs: groups by order, then pages; blog: newest first). Titles in `language`, English where not translated. */
  list(section: ContentSection, language: Language): ContentEntry[];
  /** `places` are the operator's texts; an unset one reads neutrally and is marked with `data-unset`. */
  page(path: string, language: Language, places?: Places): Promise<ContentPage | null>;
  /** The page as Markdown, with its title; directives are plain Markdown. Without `places`, `{{…}}` are kept. */
  markdown(path: string, language: Language, places?: Places): Promise<string | null>;
  /** The serialized index of MiniSearch over docs and tutorials, in English where not translated. */
  searchIndex(language: Language): Promise<string>;
  /** The page for language models of llmstxt.org: links to the Markdown of docs and tutorials. */
  llmsTxt(origin: string): string;
  /** All addresses, for the sitemap and to know which exist. */
  paths(): { path: string; languages: Language[]; date: string | null }[];
  /** The page in this very language; null where it is not written in it. */
  written(path: string, language: Language): WrittenPage | null;
}

/** Reads the tree; throws `ContentError`. Pages are rendered when they are asked for, and kept. */
export function loadContent(folder: string): Content {
  const sources = readSources(folder);
  const all = [...sources, ...referenceSources(sources)];
  const english = inReadingOrder(all.filter((source) => source.language === 'en'));
  const twice = english.find((source, index) => english.findIndex((other) => other.path === source.path) < index);
  if (twice) throw new ContentError([problemAt(twice.file, 1, `two pages have the address ${twice.path}`)]);
  const byPath = new Map(english.map((source) => [source.path, new Map([[source.language, source]])]));
  for (const source of all) byPath.get(source.path)?.set(source.language, source);

  const find = (path: string, language: Language): Source | undefined =>
    byPath.get(path)?.get(language) ?? byPath.get(path)?.get('en');
  /** Structure and dates are those of the English page. */
  const original = (source: Source): Source => byPath.get(source.path)?.get('en') ?? source;
  const translated = (section: ContentSection, language: Language): Source[] =>
    english.filter((source) => source.section === section).map((source) => find(source.path, language) ?? source);

  // The tree of a page takes several times as much memory as what is made of it: it is not kept.
  const rendered = keptFor(async (source: Source) => {
    const page = parsePage(source);
    return { text: await renderText(page, source), headings: page.headings };
  });
  const indexes = new Map<Language, Promise<string>>();

  const entryOf = (source: Source, places: Places = {}): ContentEntry => ({
    path: source.path,
    title: fillText(source.title, places, source.language),
    description: fillText(source.description, places, source.language),
    group: source.group,
    date: original(source).date,
    id: original(source).id,
    language: source.language,
  });

  return {
    list: (section, language) => translated(section, language).map((source) => entryOf(source)),

    async page(path, language, places = {}) {
      const source = find(path, language);
      if (!source) return null;
      const order = source.section === 'legal' ? [] : translated(source.section, language);
      const at = order.findIndex((other) => other.path === path);
      const link = (other: Source | undefined): ContentLink | null =>
        other ? { path: other.path, title: fillText(other.title, places, other.language) } : null;
      const { text, headings } = await rendered(source);
      return {
        ...entryOf(source, places),
        section: source.section,
        text: fillPlaces(text, places, source),
        headings: headings.map((heading) => ({
          ...heading,
          text: fillText(heading.text, places, source.language),
        })),
        previous: at < 0 ? null : link(order[at - 1]),
        next: at < 0 ? null : link(order[at + 1]),
        languages: languagesOf(path),
      };
    },

    async markdown(path, language, places) {
      const source = find(path, language);
      if (!source) return null;
      const text = plainMarkdown(parsePage(source), source);
      return places ? fillText(text, places, source.language) : text;
    },

    searchIndex(language) {
      const known = indexes.get(language);
      if (known) return known;
      const made = makeIndex([...translated('docs', language), ...translated('tutorials', language)], language);
      indexes.set(language, made);
      return made;
    },

    llmsTxt: (origin) => llmsTxt(origin, translated('docs', 'en'), translated('tutorials', 'en')),
    paths: () => english.map(({ path, date }) => ({ path, languages: languagesOf(path), date })),

    written(path, language) {
      const source = byPath.get(path)?.get(language);
      return source ? { source, parsed: () => parsePage(source) } : null;
    },
  };

  function languagesOf(path: string): Language[] {
    return LANGUAGES.filter((language) => byPath.get(path)?.has(language));
  }

  async function makeIndex(pages: readonly Source[], language: Language): Promise<string> {
    const index = new MiniSearch(searchOptions(language));
    // In pieces, between which the process does other work.
    for (const page of pages) {
      const searched = parsePage(page.brief ? { ...page, body: page.brief } : page);
      await index.addAllAsync(searchDocuments(searched, page));
    }
    return JSON.stringify(index);
  }
}

/** Results that are made once for each page. */
function keptFor<T>(make: (source: Source) => T): (source: Source) => T {
  const kept = new Map<Source, T>();
  return (source) => {
    const known = kept.get(source);
    if (known !== undefined) return known;
    const made = make(source);
    kept.set(source, made);
    return made;
  };
}

function inReadingOrder(sources: readonly Source[]): Source[] {
  const groupOrder = new Map(
    sources
      .filter((source) => source.isIndex)
      .map((source) => [source.group, source.group === null ? -1 : source.order]),
  );
  const compare = (one: Source, other: Source): number => {
    if (one.section !== other.section) return 0;
    if (one.section === 'blog')
      return (other.date ?? '').localeCompare(one.date ?? '') || (other.id ?? 0) - (one.id ?? 0);
    return (
      (groupOrder.get(one.group) ?? 0) - (groupOrder.get(other.group) ?? 0) ||
      Number(other.isIndex) - Number(one.isIndex) ||
      one.order - other.order
    );
  };
  const sections = Map.groupBy(sources, (source) => source.section);
  return [...sections.values()].flatMap((pages) => pages.toSorted(compare));
}
