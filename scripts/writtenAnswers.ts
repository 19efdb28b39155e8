import { join } from 'node:path';
import { loadContent } from '../packages/content/src/content.ts';
import { searchIndexAddress } from '../packages/content/src/searchOptions.ts';
import { api } from '../packages/contract/src/api.ts';
import { CONTENT_SECTIONS, type ContentEntry, type ContentSection } from '../packages/contract/src/content.ts';
import type { Language } from '../packages/contract/src/languages.ts';
import { ROUTES } from '../packages/contract/src/routes.ts';

const { list, page } = api.content;
const content = loadContent(join(import.meta.dirname, '../content'));

/** A written page that is prerendered in the languages that it has. */
export interface WrittenSubject {
  path: string;
  section: ContentSection;
  id: number | null;
  date: string | null;
  languages: readonly Language[];
  in(language: Language): Pick<ContentEntry, 'title' | 'description'>;
}

export const writtenPages: WrittenSubject[] = CONTENT_SECTIONS.flatMap((section) =>
  content.list(section, 'en').map(({ path, id, date, title, description }) => ({
    path,
    section,
    id,
    date,
    languages: content.paths().find((one) => one.path === path)?.languages ?? [],
    in: (language) => content.list(section, language).find((one) => one.path === path) ?? { title, description },
  })),
);

/** Pages that list what is written. */
export const writtenLists: { path: string; section: ContentSection }[] = [
  { path: ROUTES.tutorials.path, section: 'tutorials' },
  { path: ROUTES.blog.path, section: 'blog' },
];

/** Stand for what the operator sets: the server writes it when it sends the page. */
const PLACES = Object.fromEntries(
  ['operator.name', 'operator.address', 'operator.date'].map((place) => [place, `{{${place}}}`]),
);

/** The index of the search, as a file of the built app. */
export async function searchIndexFile(language: Language): Promise<{ name: string; text: string }> {
  return { name: searchIndexAddress(language), text: await content.searchIndex(language) };
}

/** What the server answers about written pages; undefined for other calls. */
export async function answerOfWritten(path: string, input: unknown): Promise<unknown> {
  switch (path) {
    case list.path: {
      const { section, language } = list.input.parse(input);
      return list.output.parse({ isSuccess: true, entities: content.list(section, language) });
    }
    case page.path: {
      const asked = page.input.parse(input);
      const entity = await content.page(asked.path, asked.language, PLACES);
      if (!entity) throw new Error(`Nothing is written at ${asked.path}`);
      return page.output.parse({ isSuccess: true, entity });
    }
    default:
      return undefined;
  }
}
