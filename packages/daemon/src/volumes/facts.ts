import type { BigIntStats } from 'node:fs';
import type { FileFacts } from '@stagi/contract/daemonFiles.ts';
import { kindOf } from './openBeneath.ts';

export function factsOf(stats: BigIntStats): FileFacts {
  return {
    kind: kindOf(stats),
    sizeBytes: Number(stats.size),
    modifiedAt: new Date(Number(stats.mtimeMs)).toISOString(),
    etag: etagOf(stats),
  };
}

/** Another file, another size or another time of the last change. */
const etagOf = ({ ino, size, mtimeNs }: BigIntStats): string =>
  [ino, size, mtimeNs].map((part) => part.toString(36)).join('-');
