import type { BigIntStats } from 'node:fs';
import type { FileFacts } from '@stagi/contract/daemonFiles.ts';
import { kindOf } from './openBeneath.ts';

/** A file may have any time: this is the last one of a year with four digits. */
const LAST_MS = Date.UTC(9999, 11, 31);

export function factsOf(stats: BigIntStats): FileFacts {
  return {
    kind: kindOf(stats),
    sizeBytes: Number(stats.size),
    modifiedAt: new Date(Math.min(Math.max(Number(stats.mtimeMs), 0), LAST_MS)).toISOString(),
    etag: etagOf(stats),
  };
}

/** Another file, another size or another time of the last change. */
const etagOf = ({ ino, size, mtimeNs }: BigIntStats): string =>
  [ino, size, mtimeNs].map((part) => part.toString(36)).join('-');
