import { XMLParser, XMLValidator } from 'fast-xml-parser';
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
export type Parsed = string | { [name: string]: Parsed | Parsed[] };

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
});

/** The content of the root element. Throws MalformedXML; document types, and so entities, are refused. */
export function parseXml(text: string, root: string): Parsed {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text) || XMLValidator.validate(text) !== true) throw new S3Error('MalformedXML');
  const found = (parser.parse(text) as Record<string, Parsed>)[root];
  if (found === undefined) throw new S3Error('MalformedXML');
  return found;
}

export function childrenOf(parent: Parsed, name: string): Parsed[] {
  if (typeof parent === 'string') return [];
  const found = parent[name];
  return found === undefined ? [] : Array.isArray(found) ? found : [found];
}

/** The text of the only child of this name; null: there is none. Throws MalformedXML for several or for elements. */
export function textIn(parent: Parsed, name: string): string | null {
  const found = childrenOf(parent, name);
  if (found.length === 0) return null;
  if (found.length > 1 || typeof found[0] !== 'string') throw new S3Error('MalformedXML');
  return decodeEntities(found[0]);
}

export function requiredText(parent: Parsed, name: string): string {
  const found = textIn(parent, name);
  if (found === null) throw new S3Error('MalformedXML');
  return found;
}

export const textsIn = (parent: Parsed, name: string): string[] =>
  childrenOf(parent, name).map((child) => {
    if (typeof child !== 'string') throw new S3Error('MalformedXML');
    return decodeEntities(child);
  });

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** PostgreSQL has no NUL, and a half of a surrogate pair is no character. */
const isCharacter = (code: number): boolean => code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);

/** The parser's own decoding counts entities over the whole document, and a thousand keys may have many. */
function decodeEntities(text: string): string {
  return text.replace(/&([^;]*);/g, (_, entity: string) => {
    const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(entity) ?? [];
    const code = hex ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : null;
    if (code !== null && isCharacter(code)) return String.fromCodePoint(code);
    const named = NAMED[entity];
    if (named === undefined) throw new S3Error('MalformedXML');
    return named;
  });
}
