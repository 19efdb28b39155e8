import type { StorageObject } from '@stagi/contract/storages.ts';

/** Where objects are read from: a storage, or what a task has put out. Its keys are the source's own. */
export interface ObjectSource {
  /** The path of the call that lists it: events and changes invalidate what was read by it. */
  path: string;
  id: number;
  /** Whether anything can be read now. */
  isReadable: boolean;
  /** One level below a prefix. */
  list(page: ObjectPage, signal: AbortSignal): Promise<ObjectListing>;
  /** A presigned link to one object: to download it, or `inline` to read its beginning. */
  link(key: string, how: { inline: boolean }, signal?: AbortSignal): Promise<string>;
  /** A link on the address for content of others, where nothing in an object runs. */
  previewLink(key: string, signal: AbortSignal): Promise<string>;
  /** For S3 tools. */
  uri(key: string): string;
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
