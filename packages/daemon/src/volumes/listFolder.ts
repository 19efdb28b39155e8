import { lstat, opendir } from 'node:fs/promises';
import type { FileOperation, ListedFile } from '@stagi/contract/daemonFiles.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { factsOf } from './facts.ts';
import { beneath, contentPath, type Folder } from './openBeneath.ts';

type Listing = Extract<FileOperation, { do: 'list' }>;

/** A place in the order of a listing: folders first, then by the bytes of the names. */
interface Place {
  isFolder: boolean;
  name: Buffer;
}

const HIDDEN = Buffer.from(UPLOAD_PREFIX);
const LOOKS_AT_ONCE = 64;

/** One page of a folder. In memory are two pages of names at most, however many the folder has. */
export async function listFolder(
  folder: Folder,
  { prefix, after, limit }: Pick<Listing, 'prefix' | 'after' | 'limit'>,
): Promise<{ entries: ListedFile[]; next: string | null }> {
  const start = after === null ? null : placeOf(after);
  const beginning = Buffer.from(prefix);
  let found: Place[] = [];
  for await (const entry of await opendir(contentPath(folder), { encoding: 'buffer' as never, bufferSize: 512 })) {
    const name = entry.name as unknown as Buffer;
    const place = { isFolder: entry.isDirectory(), name };
    if (!startsWith(name, beginning) || startsWith(name, HIDDEN)) continue;
    if (start && compare(place, start) <= 0) continue;
    found.push(place);
    if (found.length > 2 * (limit + 1)) found = found.sort(compare).slice(0, limit + 1);
  }
  found.sort(compare);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const next = last && found.length > limit ? cursorOf(last) : null;
  const entries: ListedFile[] = [];
  for (let at = 0; at < page.length; at += LOOKS_AT_ONCE) {
    const some = page.slice(at, at + LOOKS_AT_ONCE).map(({ name }) => look(folder, name));
    for (const entry of await Promise.all(some)) if (entry) entries.push(entry);
  }
  return { entries, next };
}

/** Null: it was removed meanwhile. */
async function look(folder: Folder, name: Buffer): Promise<ListedFile | null> {
  try {
    return { ...shownName(name), ...factsOf(await lstat(beneath(folder, name), { bigint: true })) };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function shownName(name: Buffer): { name: string; isEscaped: boolean } {
  try {
    return { name: utf8.decode(name), isEscaped: false };
  } catch {
    const escaped = [...name].map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`));
    return { name: escaped.join(''), isEscaped: true };
  }
}

const startsWith = (name: Buffer, beginning: Buffer): boolean => name.subarray(0, beginning.length).equals(beginning);

const compare = (a: Place, b: Place): number =>
  a.isFolder === b.isFolder ? Buffer.compare(a.name, b.name) : a.isFolder ? -1 : 1;

const cursorOf = ({ isFolder, name }: Place): string => `${isFolder ? 'd' : 'f'}${name.toString('base64url')}`;
const placeOf = (cursor: string): Place => ({
  isFolder: cursor.startsWith('d'),
  name: Buffer.from(cursor.slice(1), 'base64url'),
});
