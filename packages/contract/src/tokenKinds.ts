/** What a piece of code is, as the variables theme of Shiki names it; the first has no colour of its own. */
export const TOKEN_KINDS = [
  'foreground',
  'constant',
  'string',
  'comment',
  'keyword',
  'parameter',
  'function',
  'string-expression',
  'punctuation',
  'link',
] as const;
