import { z } from 'zod';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

/** Rules about storages that server and web app share. */

/** What clients of the S3 service sign with. Any region in a signature is accepted. */
export const S3_REGION = 'us-east-1';

/** Names of log buckets begin with it; no storage of a member does. */
export const LOG_BUCKET_PREFIX = 'log-';
/** Days for which a log bucket is kept after its server was terminated. */
export const LOG_BUCKET_KEPT_DAYS = 30;
/** An object key is any UTF-8 of 1 to 1,024 bytes. */
export const MAX_OBJECT_KEY_BYTES = 1_024;
/** Storage sizes count in decimal gigabytes, as disks and other clouds do. */
export const GB = 1_000_000_000;
/** Hours for which a monthly price pays. */
export const HOURS_PER_MONTH = 730;
/** Micro-STAGI for one GB of chosen size and month: 0.02 STAGI. */
export const MICRO_PER_GB_MONTH = 20_000n;
export const STORAGE_PROVISIONING_MINUTES = 2;

/** `log`: the free bucket of a rented server, which the platform writes. */
export const StorageKind = z.enum(['storage', 'log']);
export type StorageKind = z.infer<typeof StorageKind>;

export const StorageStatus = z.enum(['renting', 'rented', 'creation failed', 'error', 'terminating', 'deleted']);
export type StorageStatus = z.infer<typeof StorageStatus>;

/** The allowed transitions of each status; the database refuses all others. */
export const STORAGE_MOVES: Record<StorageStatus, readonly StorageStatus[]> = {
  renting: ['rented', 'creation failed', 'terminating'],
  rented: ['error', 'terminating'],
  'creation failed': ['terminating'],
  error: ['rented', 'terminating'],
  terminating: ['deleted'],
  deleted: [],
};

type Actionable = { kind: 'storage' | 'log'; status: StorageStatus; readOnly: boolean };

/** Which actions a storage allows now, and why the others are disabled. Used by the server and the web app. */
export const storageCan = {
  read({ status }: Actionable): Verdict {
    return status === 'rented' ? yes : no(text('Only a rented storage can be used'));
  },
  write({ kind, status, readOnly }: Actionable): Verdict {
    if (kind === 'log') return no(text('Only the platform writes to a log bucket'));
    if (status !== 'rented') return no(text('Only a rented storage can be used'));
    return readOnly ? no(text('Zero balance: this storage is read-only until a deposit')) : yes;
  },
  resize({ kind, status }: Actionable): Verdict {
    if (kind === 'log') return no(text('A log bucket has a fixed size'));
    return status === 'rented' ? yes : no(text('Only a rented storage can be resized'));
  },
  delete({ kind, status }: Actionable): Verdict {
    if (kind === 'log') return no(text('A log bucket is deleted 30 days after its server is terminated'));
    return status === 'terminating' || status === 'deleted' ? no(text('This storage is already being deleted')) : yes;
  },
};
