import { MAX_OBJECT_KEY_BYTES } from '@stagi/contract/storageRules.ts';

/** Keys are shown and sent as they are: nothing here trims or normalises them. */

/** What of a key stands behind the folder it is shown in. */
export const nameIn = (folder: string, key: string): string => key.slice(folder.length);

/** The last part of a key, for a file on a disk. A folder marker is named by its folder. */
export function fileNameOf(key: string): string {
  const name = key.split('/').findLast((part) => part !== '') ?? '';
  return name === '' || name === '.' || name === '..' ? 'object' : name;
}

export interface Crumb {
  /** Empty between two slashes and before a leading one. */
  name: string;
  prefix: string;
}

/** The folders from the top of the bucket down to `prefix`, which ends in `/` or is empty. */
export function crumbsOf(prefix: string): Crumb[] {
  const names = prefix.split('/').slice(0, -1);
  return names.map((name, at) => ({ name, prefix: `${names.slice(0, at + 1).join('/')}/` }));
}

/** The folder that holds a key or a folder. */
export function parentOf(key: string): string {
  const whole = key.endsWith('/') ? key.slice(0, -1) : key;
  return whole.slice(0, whole.lastIndexOf('/') + 1);
}

const encoder = new TextEncoder();

export const isTooLong = (key: string): boolean => encoder.encode(key).length > MAX_OBJECT_KEY_BYTES;

/** For a shell: a word whose signs mean nothing. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export const s3Uri = (bucket: string, key: string): string => `s3://${bucket}/${key}`;

/** RFC 3986: what S3 leaves unencoded, with slashes kept. */
export function objectUrl(endpoint: string, bucket: string, key: string): string {
  const encoded = encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${endpoint}/${bucket}/${encoded}`;
}
