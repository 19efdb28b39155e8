import type { BlobStore } from '@stagi/s3/blobStore.ts';

/** Something that lies in a place. */
export interface Listed {
  name: string;
  /** Null: measuring it would take too long. */
  bytes: number | null;
  /** The listing has met its row already, so that nobody asks for it. */
  isKnown?: boolean;
}

/** A place where bytes lie that rows of one table own. A row is written before its bytes and removed after them. */
export interface Place {
  /** As operators and metrics call it. */
  name: string;
  /** Everything in it, in the order of the names. */
  list(): AsyncIterable<Listed>;
  /** Those of the names that have a row now, in whatever state. */
  known(names: readonly string[]): Promise<ReadonlySet<string>>;
  exists(name: string): Promise<boolean>;
  /** Succeeds when there is nothing of that name. */
  remove(name: string): Promise<void>;
}

export function inStore(store: BlobStore): Pick<Place, 'exists' | 'remove'> {
  return {
    exists: async (name) => (await store.head(name)) !== null,
    remove: (name) => store.remove(name),
  };
}
