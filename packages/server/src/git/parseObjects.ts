import { pathText } from '@stagi/contract/codePath.ts';
import type { StoredObject } from './catFile.ts';

/** One line of a tree, as it is stored. */
export interface StoredEntry {
  /** In octal, six digits. */
  mode: string;
  /** Git allows any bytes but NUL and `/`. */
  nameBytes: Buffer;
  /** Its text (`contract/src/codePath.ts`): different for different bytes. */
  name: string;
  sha: string;
}

export interface StoredSignature {
  name: string;
  email: string;
  at: Date;
}

export interface StoredCommit {
  sha: string;
  tree: string;
  parents: string[];
  author: StoredSignature;
  committer: StoredSignature;
  /** The first line of the message. */
  title: string;
  /** What follows the first line. */
  body: string;
}

const HASH_BYTES = 20;
const SPACE = 0x20;

/** `<mode> <name>\0<20 bytes>` for each entry. */
export function parseTree(content: Buffer): StoredEntry[] {
  const entries: StoredEntry[] = [];
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(SPACE, at);
    const nul = content.indexOf(0, space);
    const next = nul + 1 + HASH_BYTES;
    if (space === -1 || nul === -1 || next > content.length) throw new Error('a tree is cut off');
    const nameBytes = content.subarray(space + 1, nul);
    entries.push({
      mode: content.toString('latin1', at, space).padStart(6, '0'),
      nameBytes,
      name: pathText(nameBytes),
      sha: content.toString('hex', nul + 1, next),
    });
    at = next;
  }
  return entries;
}

/** Commits of any program and age: what a header lacks is empty, and a text in an unknown encoding is read as UTF-8. */
export function parseCommit(sha: string, { content }: Pick<StoredObject, 'content'>): StoredCommit {
  const blank = content.indexOf('\n\n');
  const headerBytes = blank === -1 ? content : content.subarray(0, blank);
  const encoding = /^encoding (.+)$/m.exec(headerBytes.toString('latin1'))?.[1];
  const decode = decoderOf(encoding);
  const headers = decode(headerBytes).split('\n');
  const headerOf = (name: string): string =>
    headers.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const message = blank === -1 ? '' : decode(content.subarray(blank + 2)).replace(/^\n+/, '');
  const lineEnd = message.indexOf('\n');
  return {
    sha,
    tree: headerOf('tree'),
    // Only the headers before the author's: a later one may be folded into a signature.
    parents: headers.filter((line) => /^parent [0-9a-f]{40}$/.test(line)).map((line) => line.slice('parent '.length)),
    author: parseSignature(headerOf('author')),
    committer: parseSignature(headerOf('committer')),
    title: (lineEnd === -1 ? message : message.slice(0, lineEnd)).trim(),
    body:
      lineEnd === -1
        ? ''
        : message
            .slice(lineEnd + 1)
            .replace(/^\s*\n/, '')
            .trimEnd(),
  };
}

/** `Name <email> seconds zone`. */
export function parseSignature(line: string): StoredSignature {
  const open = line.indexOf('<');
  const close = line.lastIndexOf('>');
  if (open === -1 || close < open) return { name: line.trim(), email: '', at: new Date(0) };
  const seconds = Number(/^\s*(-?\d{1,12})/.exec(line.slice(close + 1))?.[1] ?? 0);
  const at = new Date(seconds * 1000);
  return {
    name: line.slice(0, open).trim(),
    email: line.slice(open + 1, close).trim(),
    at: Number.isNaN(at.getTime()) ? new Date(0) : at,
  };
}

function decoderOf(encoding: string | undefined): (bytes: Buffer) => string {
  if (encoding) {
    try {
      const decoder = new TextDecoder(encoding.trim());
      return (bytes) => decoder.decode(bytes);
    } catch {
      // A name that no decoder knows: read as UTF-8.
    }
  }
  return (bytes) => bytes.toString();
}
