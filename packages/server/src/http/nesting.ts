import { text } from '@stagi/contract/text.ts';
import { PublicError } from './errors.ts';

/** No call has a body half as deep. What walks a value by recursion would exhaust the stack on a deep one. */
const MOST_LEVELS = 32;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const OPENING = new Set([...'[{'].map((bracket) => bracket.charCodeAt(0)));
const CLOSING = new Set([...']}'].map((bracket) => bracket.charCodeAt(0)));

/** True for a text of JSON with more than 32 levels of arrays and objects. Counts brackets, without recursion. */
export function isTooDeep(json: string): boolean {
  let levels = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
      if (at === -1) return false;
    } else if (OPENING.has(code)) {
      levels += 1;
      if (levels > MOST_LEVELS) return true;
    } else if (CLOSING.has(code)) levels -= 1;
  }
  return false;
}

export const tooDeep = (): PublicError =>
  new PublicError(400, text('The request is nested too deeply: at most 32 levels'));

/** The place of the quote that ends the string which begins here; -1 without one. */
function endOfString(json: string, begin: number): number {
  let from = begin + 1;
  for (;;) {
    const end = json.indexOf('"', from);
    if (end === -1) return -1;
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    from = end + 1;
  }
}
