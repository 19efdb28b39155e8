import type { StorageRow } from '../db/schema.ts';

/** The one next step for a storage. */
export type StorageStep =
  /** Probe the location and make the bucket. */
  | 'provision'
  /** The deadline of the creation has passed. */
  | 'give up'
  /** See whether the location still answers. */
  | 'check'
  /** Close the bucket and remove what it holds. */
  | 'empty'
  | 'nothing';

export function decide(row: Pick<StorageRow, 'status' | 'desired' | 'status_deadline'>, now: Date): StorageStep {
  if (row.status === 'deleted') return 'nothing';
  if (row.status === 'terminating') return 'empty';
  switch (row.status) {
    case 'renting':
      return row.status_deadline && row.status_deadline < now ? 'give up' : 'provision';
    case 'rented':
    case 'error':
      return 'check';
    case 'creation failed':
      return 'nothing';
  }
}
