import type { FileFacts, ListedFile } from '@stagi/contract/daemonFiles.ts';
import type { VolumeEntry } from '@stagi/contract/volumeFiles.ts';
import { typeByName } from '../objects/contentTypes.ts';

const BYTES = 'application/octet-stream';
const OF_KIND = { folder: 'inode/directory', link: 'inode/symlink', other: 'inode/special' };

/** By the name alone: no content is looked at. */
export function contentTypeOf(kind: FileFacts['kind'], name: string): string {
  return kind === 'file' ? (typeByName(name) ?? BYTES) : OF_KIND[kind];
}

export function presentEntry(entry: FileFacts & Pick<ListedFile, 'name'> & Partial<ListedFile>): VolumeEntry {
  const { name, kind, sizeBytes, modifiedAt, etag, isEscaped = false } = entry;
  return { name, kind, sizeBytes, modifiedAt, etag, contentType: contentTypeOf(kind, name), isEscaped };
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
