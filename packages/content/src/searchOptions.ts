// Runs in browsers too, which must cut texts into words as the server did: imports nothing of Node, nothing of the rest.
import type { Options, SearchOptions } from 'minisearch';
import { stemmer } from 'stemmer';

type Language = 'en' | 'cn' | 'ru' | 'tr';

/** A part of a page: what stands below one of its headings, or above the first. */
export interface SearchDocument {
  /** `path#heading`, or the path. */
  id: string;
  path: string;
  /** Of the page. */
  title: string;
  /** Of the part; empty above the first heading. */
  heading: string;
  text: string;
}

/** What a hit has of its document besides the `id`, which is its address. */
const STORED_FIELDS = ['title', 'heading', 'excerpt'] as const;
export type SearchHit = Record<(typeof STORED_FIELDS)[number], string> & { id: string };

/** Excerpts are a sixth of the index. */
const EXCERPT_LENGTH = 90;

/** Words that say nothing about what is looked for. */
const ENGLISH =
  'a again all an and another any are as at be been by can cannot could do does each for from had has have how i if in into is ' +
  'it its may me my no not of on once one only or our own see so than that the their them then there these they this to was ' +
  'we were what when where which who whose why will with you your';
const STOP_WORDS: Record<Language, ReadonlySet<string>> = {
  en: wordSet(ENGLISH),
  // Pages that are not translated are searched in English.
  cn: wordSet(`${ENGLISH} 的 了 和 是 在 我 有 与 或 吗 呢 如何 怎么 怎样 什么`),
  ru: wordSet(
    `${ENGLISH} и в во не что он на я с со как а то все так но к у же за бы по от из о для это или чтобы мне где`,
  ),
  tr: wordSet(`${ENGLISH} ve veya bir bu su o da de icin ile mi ne nasil gibi nerede hangi ama en`),
};

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Where the index of a language is read. */
export const searchIndexAddress = (language: Language): string => `/search-index.${language}.json`;

/** The options of MiniSearch, the same where an index is made and where it is loaded. */
export function searchOptions(language: Language): Options<SearchDocument> & { searchOptions: SearchOptions } {
  return {
    fields: ['title', 'heading', 'text'],
    storeFields: [...STORED_FIELDS],
    extractField: (document, name) =>
      name === 'excerpt' ? excerptOf(document.text) : document[name as keyof SearchDocument],
    tokenize: language === 'cn' ? chineseWords : words,
    processTerm: (term) => {
      const plain = folded(term);
      if (plain === '' || STOP_WORDS[language].has(plain)) return null;
      // Turkish has no endings that this would understand.
      return language !== 'tr' && /^[a-z]{4,}$/.test(plain) ? stemmer(plain) : plain;
    },
    searchOptions: {
      boost: { title: 3, heading: 3 },
      prefix: (term) => term.length > 1,
      // Two exchanged letters count as two mistakes.
      fuzzy: (term) => (term.length > 5 ? 0.25 : term.length > 3 ? 0.2 : false),
      maxFuzzy: 2,
      weights: { prefix: 0.4, fuzzy: 0.3 },
      // The reference names every thing in many calls; whoever asks for words wants the page that explains them.
      boostDocument: (id) => (/^\/docs\/api\/.*#/.test(String(id)) ? 0.35 : 1),
    },
  };
}

function excerptOf(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  if (plain.length <= EXCERPT_LENGTH) return plain;
  const cut = plain.slice(0, EXCERPT_LENGTH);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), EXCERPT_LENGTH / 2))}…`;
}

/** Lower case, without marks: "ı", "İ" and "é" are found by what a keyboard without them has. */
const folded = (term: string): string =>
  term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ı', 'i').normalize('NFKC');

const SPACE_OR_PUNCTUATION = /[\n\r\p{Z}\p{P}\p{S}]+/u;

/** Words, and the parts of a name such as `uploadLink`. */
function words(text: string): string[] {
  return text.split(SPACE_OR_PUNCTUATION).flatMap((word) => {
    const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u);
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

let segmenter: Intl.Segmenter | null = null;

/** Chinese has no spaces. Its single characters are words too, as dictionaries of browsers differ. */
function chineseWords(text: string): string[] {
  segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' });
  const found: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (!isWordLike) continue;
    if (!/\p{Script=Han}/u.test(segment)) found.push(...words(segment));
    else if (segment.length <= 2) found.push(segment);
    else found.push(segment, ...pairs(segment));
  }
  return found;
}

/** Of a long word, its pairs of characters: 容器模板 is found by 模板. */
const pairs = (word: string): string[] => Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
