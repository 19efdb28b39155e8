import { setImmediate } from 'node:timers/promises';
import sax from 'sax';
import { S3Error } from './errors.ts';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** Elements in their order, a name perhaps with attributes; null is left out. */
export type Elements = readonly (readonly [name: string, content: Content])[];
type Content = string | number | boolean | Date | Elements | null;

export function xmlDocument(root: string, content: Elements): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${NAMESPACE}">${elements(content)}</${root}>`;
}

/** Errors have no namespace. */
export function xmlError(content: Elements): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${elements(content)}</Error>`;
}

const elements = (list: Elements): string =>
  list
    .map(([name, content]) => (content === null ? '' : `<${name}>${textOf(content)}</${name.split(' ', 1)[0]}>`))
    .join('');

function textOf(content: Exclude<Content, null>): string {
  if (content instanceof Date) return content.toISOString();
  return typeof content === 'object' ? elements(content) : escapeText(String(content));
}

/** Control characters become references, as S3 has them, although XML 1.0 does not allow most of them. */
const escapeText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
    .replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);

/** An element that was parsed: text, or its children by name. */
export type Parsed = string | ReadonlyMap<string, readonly Parsed[]>;

/** S3's documents have four levels. */
const MAX_DEPTH = 20;
/** The largest documents, of 10,000 parts or 1,000 keys, have fewer. */
const MAX_ELEMENTS = 200_000;
/** The longest text is a key of 1,024 bytes, or what indents the first child. */
const MAX_TEXT = 32 * 1024;
/** So much is parsed at once, in about a millisecond; other requests are served in between. */
const SLICE_CHARACTERS = 16 * 1024;

/** The content of the root element. Throws MalformedXML; document types, and so entities of one's own, are refused. */
export async function parseXml(text: string, root: string): Promise<Parsed> {
  const reader = createReader();
  try {
    refuseDeclarations(text);
    for (let at = 0; at < text.length; at += SLICE_CHARACTERS) {
      if (at > 0) await nextTurn();
      reader.write(text.slice(at, at + SLICE_CHARACTERS));
    }
    const found = reader.end();
    if (found.name !== root) throw new Error(`the root is ${found.name}`);
    return found.content;
  } catch (cause) {
    throw new S3Error('MalformedXML', undefined, {}, { cause });
  }
}

/** XML's own, and references to the control characters that `escapeText` writes although XML 1.0 knows none. */
const ENTITIES: Record<string, string> = Object.assign(Object.create(null), {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  ...Object.fromEntries(
    [...Array.from({ length: 31 }, (_, index) => index + 1), 0xfffe, 0xffff].flatMap((code) => [
      [`#${code}`, String.fromCharCode(code)],
      [`#x${code.toString(16)}`, String.fromCharCode(code)],
    ]),
  ),
});

let lastTurn: Promise<unknown> = Promise.resolve();
/** One slice at a turn of the event loop, whatever the number of documents. */
const nextTurn = (): Promise<unknown> => {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
};

/**
 * Refuses all that begins with `<!` but comments and CDATA. S3 needs no document type, which would bring entities of one's
 * own, and sax takes time by the square of a declaration.
 */
function refuseDeclarations(text: string): void {
  for (let at = text.indexOf('<!'); at >= 0; at = text.indexOf('<!', at)) {
    const end = text.startsWith('<!--', at) ? '-->' : text.startsWith('<![CDATA[', at) ? ']]>' : null;
    if (end === null) throw new Error('declarations are refused');
    at = text.indexOf(end, at + '<!--'.length);
    if (at < 0) throw new Error(`${end} is missing`);
  }
}

interface OpenElement {
  name: string;
  text: string;
  children: Map<string, Parsed[]>;
}

function createReader(): { write(text: string): void; end(): { name: string; content: Parsed } } {
  const parser = sax.parser(true, { trim: false, normalize: false });
  parser.ENTITIES = ENTITIES;
  const open: OpenElement[] = [];
  let elements = 0;
  let root: { name: string; content: Parsed } | null = null;
  const addText = (text: string): void => {
    const element = open.at(-1);
    // Between children there is nothing but spaces.
    if (!element || element.children.size > 0) return;
    element.text += text;
    if (element.text.length > MAX_TEXT) throw new Error('a text is too long');
  };
  parser.onerror = (error) => {
    throw error;
  };
  parser.ontext = addText;
  parser.oncdata = addText;
  parser.onopentag = ({ name }) => {
    elements += 1;
    if (root || open.length >= MAX_DEPTH || elements > MAX_ELEMENTS) throw new Error('too much for a request of S3');
    open.push({ name: name.slice(name.indexOf(':') + 1), text: '', children: new Map() });
  };
  parser.onclosetag = () => {
    const { name, text, children } = open.pop()!;
    if (!isText(text)) throw new Error('it has what is no character');
    const content = children.size > 0 ? children : text;
    const parent = open.at(-1)?.children;
    if (!parent) root = { name, content };
    else if (parent.has(name)) parent.get(name)!.push(content);
    else parent.set(name, [content]);
  };
  return {
    write: (text) => void parser.write(text),
    end() {
      parser.close();
      if (!root) throw new Error('there is no element');
      return root;
    },
  };
}

/** PostgreSQL has no NUL, and a half of a surrogate pair is no character. */
const isText = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

export const childrenOf = (parent: Parsed, name: string): readonly Parsed[] =>
  typeof parent === 'string' ? [] : (parent.get(name) ?? []);

/** The text of the only child of this name; null: there is none. Throws MalformedXML for several or for elements. */
export function textIn(parent: Parsed, name: string): string | null {
  const found = childrenOf(parent, name);
  if (found.length === 0) return null;
  if (found.length > 1 || typeof found[0] !== 'string') throw new S3Error('MalformedXML');
  return found[0];
}

export function requiredText(parent: Parsed, name: string): string {
  const found = textIn(parent, name);
  if (found === null) throw new S3Error('MalformedXML');
  return found;
}

export const textsIn = (parent: Parsed, name: string): string[] =>
  childrenOf(parent, name).map((child) => {
    if (typeof child !== 'string') throw new S3Error('MalformedXML');
    return child;
  });
