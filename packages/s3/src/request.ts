import type { IncomingMessage } from 'node:http';
import { S3Error } from './errors.ts';

export const MAX_KEY_BYTES = 1_024;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** A request, read but not yet authenticated. */
export interface S3Request {
  method: string;
  /** As sent, percent-encoded. */
  encodedPath: string;
  /** Decoded, with the bucket in path style. */
  path: string;
  /** Null: none is named. */
  bucket: string | null;
  /** Null: none is named. */
  key: string | null;
  query: Query;
  headers: Headers;
}

/** Parameters in the order they were sent; of several with one name, `get` answers the first. */
export class Query {
  readonly pairs: readonly (readonly [string, string])[];
  constructor(pairs: readonly (readonly [string, string])[]) {
    this.pairs = pairs;
  }
  get(name: string): string | null {
    return this.pairs.find(([one]) => one === name)?.[1] ?? null;
  }
  has(name: string): boolean {
    return this.pairs.some(([one]) => one === name);
  }
  count(name: string): number {
    return this.pairs.filter(([one]) => one === name).length;
  }
}

/** By lower-case names; values of repeated headers are joined by a comma, as their signature has them. */
export class Headers {
  readonly values: ReadonlyMap<string, readonly string[]>;
  constructor(rawHeaders: readonly string[]) {
    const values = new Map<string, string[]>();
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!.toLowerCase();
      values.set(name, [...(values.get(name) ?? []), rawHeaders[at + 1]!]);
    }
    this.values = values;
  }
  get(name: string): string | null {
    const found = this.values.get(name);
    return found ? found.map((value) => value.trim()).join(',') : null;
  }
  has(name: string): boolean {
    return this.values.has(name);
  }
  without(names: readonly string[]): Headers {
    const rest = [...this.values].filter(([name]) => !names.includes(name));
    return new Headers(rest.flatMap(([name, values]) => values.flatMap((value) => [name, value])));
  }
  /** Those whose names begin so, without the beginning. */
  startingWith(prefix: string): [string, string][] {
    return [...this.values.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => [name.slice(prefix.length), this.get(name)!]);
  }
}

/** `virtualHosts`: names below which a bucket is a label (`bucket.s3.example`). Throws `S3Error`. */
export function readRequest(message: IncomingMessage, virtualHosts: readonly string[]): S3Request {
  const target = message.url ?? '';
  if (!target.startsWith('/')) throw new S3Error('InvalidURI');
  const mark = target.indexOf('?');
  const encodedPath = mark < 0 ? target : target.slice(0, mark);
  const headers = new Headers(message.rawHeaders);
  const path = decode(encodedPath, 'InvalidURI');
  const inHost = bucketInHost(headers.get('host') ?? '', virtualHosts);
  const slash = path.indexOf('/', 1);
  const inPath = path.slice(1, slash < 0 ? undefined : slash);
  const bucket = inHost ?? (inPath === '' ? null : inPath);
  const keyText = inHost === null ? (slash < 0 ? '' : path.slice(slash + 1)) : path.slice(1);
  if (bucket !== null && !isBucketName(bucket)) throw new S3Error('InvalidBucketName');
  return {
    method: message.method ?? 'GET',
    encodedPath,
    path,
    bucket,
    key: keyText === '' ? null : checkedKey(keyText),
    query: new Query(mark < 0 ? [] : readQuery(target.slice(mark + 1))),
    headers,
  };
}

export function isBucketName(name: string): boolean {
  return BUCKET_NAME.test(name) && !name.includes('..') && !/^\d+\.\d+\.\d+\.\d+$/.test(name);
}

/** Any UTF-8 of 1 to 1,024 bytes but NUL, which PostgreSQL and XML do not have. */
export function checkedKey(key: string): string {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new S3Error('KeyTooLongError');
  if (key.includes('\0') || !key.isWellFormed()) throw new S3Error('InvalidURI');
  return key;
}

/** Node.js gives the bytes of a header as Latin-1; clients mean and sign them as UTF-8. */
export const fromWire = (value: string): string => Buffer.from(value, 'latin1').toString('utf8');

function bucketInHost(host: string, virtualHosts: readonly string[]): string | null {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  const [base] = virtualHosts.filter((one) => name.endsWith(`.${one}`)).toSorted((a, b) => b.length - a.length);
  return base === undefined ? null : name.slice(0, -base.length - 1);
}

function readQuery(text: string): [string, string][] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=');
      const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
      return [decodeParameter(name), decodeParameter(value)];
    });
}

const decodeParameter = (text: string): string => decode(text.replaceAll('+', ' '), 'InvalidURI');

/** Throws for what is not valid UTF-8. */
export function decode(text: string, code: 'InvalidURI' | 'InvalidArgument'): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error(code);
  }
}
