import { ROUTES, type Route } from './routes.ts';

/** Addresses that only lead to the page of a route. */
const LEADS_TO: readonly (readonly [path: string, route: Route])[] = [['/projects/:id/code', ROUTES.project]];

const PATTERNS = [
  ...Object.values<Route>(ROUTES).map((route) => ({ route, words: wordsOf(route.path) })),
  ...LEADS_TO.map(([path, route]) => ({ route, words: wordsOf(path) })),
];

/** The route of an address, without its query; null: no page is there. A word in place of an id is no address. */
export function routeOf(pathname: string): Route | null {
  const words = wordsOf(pathname).map(decoded);
  // A fixed word wins over a parameter, as in the browser.
  const found = PATTERNS.filter((pattern) => matches(pattern, words)).toSorted(
    (one, other) => fixedWords(other.words) - fixedWords(one.words),
  );
  return found[0]?.route ?? null;
}

function matches({ route, words }: (typeof PATTERNS)[number], found: readonly string[]): boolean {
  if (found.length < words.length) return false;
  const more = found.length - words.length;
  if (more > 0 && !route.rest && !(route.tabs && more === 1)) return false;
  return words.every((word, index) => matchesWord(word, found[index] ?? ''));
}

/** Letters count alike in either case, as in the browser. */
function matchesWord(word: string, found: string): boolean {
  if (!word.startsWith(':')) return word === found.toLowerCase();
  return !isNumber(word) || /^[1-9]\d{0,14}$/.test(found);
}

const isNumber = (parameter: string) => /^:(id|\w+Id)$/.test(parameter);
const fixedWords = (words: readonly string[]) => words.filter((word) => !word.startsWith(':')).length;

/** One "/" at the end changes nothing. */
function wordsOf(path: string): string[] {
  const inner = path.replace(/^\//, '').replace(/\/$/, '');
  return inner === '' ? [] : inner.split('/');
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    // Not well encoded: it is compared as it stands.
    return word;
  }
}
