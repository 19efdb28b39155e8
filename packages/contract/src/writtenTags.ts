/** Elements of texts that are elements of HTML too, and have no fields but their children. */
export const PLAIN_TAGS = [
  'blockquote',
  'br',
  'code',
  'del',
  'em',
  'hr',
  'li',
  'ol',
  'p',
  'strong',
  'tbody',
  'td',
  'th',
  'thead',
  'tr',
  'ul',
] as const;

export const WRITTEN_TAGS = [
  ...PLAIN_TAGS,
  /** A link to `href`. */
  'a',
  /** Headings; `id` is the place's name in the address. */
  'h2',
  'h3',
  /** `label` tells tables of a page apart. */
  'table',
  /** A block of code in `language`, whose children are texts and tokens. */
  'pre',
  /** A piece of code; `kind` is an index of `TOKEN_KINDS`. */
  'token',
  /** A note of the `kind` note, tip, warning or danger; its first child is its title. */
  'callout',
  'title',
  /** Panels of which one is shown, and a panel, named by `label`. */
  'tabs',
  'tab',
  /** The line that names a call of the API, with its method and its callers. */
  'call',
  'method',
  'callers',
  /** What the operator fills in, named by `kind`; `isUnset` where the operator has not. */
  'place',
] as const;
export type WrittenTag = (typeof WRITTEN_TAGS)[number];

export interface WrittenElement {
  tag: WrittenTag;
  id?: string | undefined;
  href?: string | undefined;
  label?: string | undefined;
  kind?: string | undefined;
  language?: string | undefined;
  isUnset?: true | undefined;
  children?: WrittenNode[] | undefined;
}
/** A text, or an element with what is in it. */
export type WrittenNode = string | WrittenElement;
