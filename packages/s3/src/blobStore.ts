import type { Readable } from 'node:stream';

/** Bytes `start` to `end`, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredBlob {
  name: string;
  size: number;
  /** When its last byte was written. */
  modifiedAt: Date;
}

/**
 * Streams of bytes by name. Names are made by the platform and match `BLOB_NAME`; nothing that a user typed gets into one.
 * A name is written once: a blob never changes.
 */
export interface BlobStore {
  /**
   * Durable when it resolves: file and folder are flushed. When the body throws, nothing is left and the error is passed
   * on. Answers the number of bytes.
   */
  put(name: string, body: AsyncIterable<Uint8Array>): Promise<number>;
  /** Throws `BlobMissing`. */
  get(name: string, range?: ByteRange): Promise<Readable>;
  head(name: string): Promise<StoredBlob | null>;
  /** All blobs whose names begin with `prefix` (empty, or ending in `/`); those of one folder in the order of their names. */
  list(prefix: string): AsyncIterable<StoredBlob>;
  /** Succeeds when there is no such blob. */
  remove(name: string): Promise<void>;
}

/** One or more folders of lower-case letters, digits and `-`, and a last part of the same. */
export const BLOB_NAME = /^[a-z0-9-]{1,64}(\/[a-z0-9-]{1,64}){0,4}$/;

export class BlobMissing extends Error {
  constructor(name: string) {
    super(`no blob ${name}`);
  }
}
