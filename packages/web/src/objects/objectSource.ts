import type { StorageObject } from '@stagi/contract/storages.ts';
import type { ReadText } from './preview/previewKind.ts';

/** Where objects are read from: a storage, what a task has put out, a volume. Its keys are the source's own. */
export interface ObjectSource {
  /** The path of the call that lists it: events and changes invalidate what was read by it. */
  path: string;
  id: number;
  /** Where one id has several: which. */
  part?: string;
  /** Whether anything can be read now. */
  isReadable: boolean;
  /** One level below a prefix. */
  list(page: ObjectPage, signal: AbortSignal): Promise<ObjectListing>;
  /** One object; left out: the first of a listing, where that is in the order of the keys. Null: it is gone. */
  view?(key: string, signal: AbortSignal): Promise<StorageObject | null>;
  /** A presigned link to one object: to download it, or `inline` to read its beginning. */
  link(key: string, how: { inline: boolean }, signal?: AbortSignal): Promise<string>;
  /** A link on the address for content of others, where nothing in an object runs. */
  previewLink(key: string, signal: AbortSignal): Promise<string>;
  /** For S3 tools. */
  uri?(key: string): string;
  /** The beginning of an object as text, where no link can be read; null: it is no text. */
  readText?(key: string, maxBytes: number, signal: AbortSignal): Promise<ReadText | null>;
  /** A link to all that is below a folder (empty: the top), as one ZIP file. */
  folderLink(folder: string): Promise<string>;
  /** Why a person may not download; null: they may. */
  downloadRefusal?: string | null;
}

export interface ObjectPage {
  prefix: string;
  /** `next` of the page before. */
  after?: string;
  limit: number;
}

export interface ObjectListing {
  folders: readonly string[];
  objects: readonly StorageObject[];
  next: string | null;
}
