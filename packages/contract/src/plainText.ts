/** Controls, halves of surrogate pairs, separators of lines, and what turns the direction of the text after it. */
const HIDDEN = '\\p{Cc}\\p{Cs}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';
const HIDDEN_IN_LINE = new RegExp(`[${HIDDEN}]`, 'u');
const HIDDEN_IN_TEXT = new RegExp(`(?![\\n\\t])[${HIDDEN}]`, 'gu');

/** Whether a text is one line of visible characters: it can break out of no header and hide nothing. */
export const isPlainLine = (line: string): boolean => !HIDDEN_IN_LINE.test(line);

/** The same text of several lines, without what is not visible. */
export const plainText = (text: string): string =>
  text.replace(/\r\n?|\u2028|\u2029/g, '\n').replace(HIDDEN_IN_TEXT, '');
