/** Controls, halves of surrogate pairs, separators of lines, and what turns the direction of the text after it. */
const HIDDEN = '\\p{Cc}\\p{Cs}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u206f';
/** In a name also the marks of direction, which make two names look alike, and what is no character at all. */
const HIDDEN_IN_NAME = `${HIDDEN}\\u200e\\u200f\\u061c\\ufff9-\\ufffb\\p{NChar}`;
const HIDDEN_IN_LINE = new RegExp(`[${HIDDEN_IN_NAME}]`, 'u');
const EACH_HIDDEN_IN_LINE = new RegExp(`[${HIDDEN_IN_NAME}]`, 'gu');
const HIDDEN_IN_TEXT = new RegExp(`(?![\\n\\t])[${HIDDEN}]`, 'gu');
/** Letters, digits, punctuation and symbols, save fillers, the blank of Braille, and places for what is not there. */
const VISIBLE = /(?![\p{DI}\u2800\ufffc\u{1d159}])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Whether a text is one line of visible characters: it can break out of no header and hide nothing. */
export const isPlainLine = (line: string): boolean => !HIDDEN_IN_LINE.test(line);

/** True when a reader sees anything of the text. Marks that combine with a letter need one. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

/** The same text of several lines, without what is not visible. */
export const plainText = (text: string): string =>
  text.replace(/\r\n?|\u2028|\u2029/g, '\n').replace(HIDDEN_IN_TEXT, '');

/** A name that nobody typed here, as one line of at most `most` characters. Empty where a reader would see nothing. */
export function plainLine(name: string, most: number): string {
  const line = name
    // The time that this takes is bounded.
    .slice(0, 4 * most)
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, ' ')
    .replace(EACH_HIDDEN_IN_LINE, '')
    .trim();
  if (!isVisible(line)) return '';
  if (line.length <= most) return line;
  return `${line
    .slice(0, most - 1)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}
