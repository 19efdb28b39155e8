import { z } from 'zod';
import { call } from './call.ts';
import { LANGUAGES } from './languages.ts';
import { oneOf } from './page.ts';
import { text } from './text.ts';
import { WrittenNode } from './writtenText.ts';

/** What is written in `content/`, each kind below its own address. */
export const CONTENT_SECTIONS = ['docs', 'tutorials', 'blog', 'legal'] as const;
export type ContentSection = (typeof CONTENT_SECTIONS)[number];

const Language = z.enum(LANGUAGES);

/** A page in lists and menus. */
export const ContentEntry = z.object({
  /** Its address, such as `/docs/console/containers`. */
  path: z.string(),
  title: z.string(),
  /** One sentence. */
  description: z.string(),
  /** The folder that it is in, as `console` is of `/docs/console/containers`; null: it is in none. */
  group: z.string().nullable(),
  /** Of a post, as `2026-11-25`. */
  date: z.string().nullable(),
  /** Of a post: the `id` in the query of its address. */
  id: z.int().nullable(),
  /** The language that it is written in: English where it is not translated. */
  language: Language,
});
export type ContentEntry = z.infer<typeof ContentEntry>;

const ContentLink = z.object({ path: z.string(), title: z.string() });
export type ContentLink = z.infer<typeof ContentLink>;

export const ContentPage = ContentEntry.extend({
  section: z.enum(CONTENT_SECTIONS),
  /** The text without the title. */
  text: z.array(WrittenNode),
  /** Headings of the second and third level; `id` is the place's name in the address. */
  headings: z.array(z.object({ id: z.string(), text: z.string(), level: z.union([z.literal(2), z.literal(3)]) })),
  /** In reading order. */
  previous: ContentLink.nullable(),
  next: ContentLink.nullable(),
  /** The languages that it is written in. */
  languages: z.array(Language),
});
export type ContentPage = z.infer<typeof ContentPage>;

export const content = {
  list: call({
    path: 'content/list',
    summary: 'The written pages of a section in reading order; posts newest first.',
    auth: 'public',
    input: z.object({ section: z.enum(CONTENT_SECTIONS), language: Language }),
    output: z.object({ isSuccess: z.literal(true), entities: z.array(ContentEntry) }),
  }),
  page: call({
    path: 'content/page',
    summary: 'A page of the documentation, a tutorial, a post or a legal page, by its address.',
    auth: 'public',
    input: z.object({ path: z.string().max(200, text('This page was not found')), language: Language }),
    output: oneOf(ContentPage),
  }),
};
