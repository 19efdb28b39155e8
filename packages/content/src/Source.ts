import type { ContentSection } from '@stagi/contract/content.ts';
import type { Language } from '@stagi/contract/languages.ts';

/** A page in one language, before it is rendered. */
export interface Source {
  /** For messages, such as `content/docs/en/index.md`. */
  file: string;
  section: ContentSection;
  language: Language;
  /** Its address. */
  path: string;
  group: string | null;
  /** Of a group, or of the documentation. */
  isIndex: boolean;
  title: string;
  description: string;
  order: number;
  id: number | null;
  date: string | null;
  /** Made from the contract. */
  isReference: boolean;
  /** The Markdown; its lines have the numbers of the file's lines. */
  body(): string;
  /** What is searched, where that is not all of it. */
  brief?(): string;
}
