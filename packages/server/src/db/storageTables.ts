import type { StorageStatus } from '@stagi/contract/storageRules.ts';
import type { Checksum, CorsRule } from '@stagi/s3/backend.ts';
import type { Generated, GeneratedAlways } from 'kysely';
import type { Created, Json, JsonWithDefault } from './columns.ts';

export interface S3BucketTable {
  id: GeneratedAlways<number>;
  name: string;
  /** Null: made with a key of an operator, whose name is in `admin_owner`. */
  workspace_id: number | null;
  admin_owner: string | null;
  location: string;
  /** Null: unlimited (buckets of operators). */
  quota_bytes: bigint | null;
  /** The sum of what objects, open uploads and their parts count for. */
  used_bytes: Generated<bigint>;
  object_count: Generated<bigint>;
  /** Only the platform itself writes (log buckets). */
  is_platforms: Generated<boolean>;
  cors: JsonWithDefault<CorsRule[]>;
  created_at: Created;
  /** Nothing can be read or written any more; its objects are being removed. */
  closed_at: Date | null;
}

export interface S3KeyTable {
  id: GeneratedAlways<number>;
  access_key_id: string;
  secret_sealed: string;
  /**
   * `person`: listed. `browser`: signs links of the web app. `share`: signs what a share link opens. `task`: signs links
   * for a run of a task. `admin`: of an operator.
   */
  purpose: 'person' | 'browser' | 'share' | 'task' | 'admin';
  workspace_id: number | null;
  bucket_id: number | null;
  admin_owner: string | null;
  title: string;
  mode: 'read-only' | 'read-write';
  prefix: string;
  /** It opens only the object whose key is `prefix`, not all whose keys begin with it. */
  opens_one_object: Generated<boolean>;
  /** Null: of an operator, or the account was deleted. */
  made_by: number | null;
  /** The API token that it was made with, and ends with. */
  api_token_id: number | null;
  /** The session of the web app that its links end with (`browser`), or else of the app that made it. */
  session_id: string | null;
  /** Whoever removed its maker ticked "keep": it no longer ends with its maker's account. */
  outlives_maker: Generated<boolean>;
  created_at: Created;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** The key that it was rotated to. */
  replaced_by: number | null;
}

/** Bytes in a location. `writing`: an intent; `doomed`: to be removed. */
export interface S3BlobTable {
  id: string;
  bucket_id: number;
  location: string;
  state: Generated<'writing' | 'stored' | 'doomed'>;
  size: Generated<bigint>;
  /** The process that writes it (`reconcile/workerRegistry.ts`); null: not registered. */
  owner: number | null;
  created_at: Created;
}

/** Bytes that lie in a place and that no row knows. */
export interface UnknownBytesTable {
  /** `objects/<location>`, `files` or `repositories`. */
  place: string;
  /** As the place calls it. */
  name: string;
  /** Null: nobody measured it. */
  bytes: bigint | null;
  /** Each comparison since then found it. */
  found_at: Created;
  removal_approved_at: Date | null;
}

/** The last comparison of a place with the rows. */
export interface QuarantinePlaceTable {
  place: string;
  /** All that lies in it, known or not. */
  listed: bigint;
  has_alarm: boolean;
  compared_at: Created;
}

export interface S3ObjectTable {
  bucket_id: number;
  /** UTF-8: the order of its bytes is the order of a listing. */
  key: Buffer;
  size: bigint;
  /** Its share of the bucket's use (migration 0068). The database fills it. */
  counted: GeneratedAlways<bigint>;
  etag: string;
  checksum: Json<Checksum> | null;
  headers: JsonWithDefault<Record<string, string>>;
  metadata: JsonWithDefault<Record<string, string>>;
  tags: JsonWithDefault<Record<string, string>>;
  modified_at: Generated<Date>;
  /** Its bytes in turn, and the size of each. */
  blobs: string[];
  blob_sizes: bigint[];
  /** The multipart upload that it was. */
  upload_id: string | null;
}

export interface S3UploadTable {
  id: string;
  bucket_id: number;
  key: Buffer;
  checksum: Json<Pick<Checksum, 'algorithm' | 'type'>> | null;
  headers: JsonWithDefault<Record<string, string>>;
  metadata: JsonWithDefault<Record<string, string>>;
  tags: JsonWithDefault<Record<string, string>>;
  counted: GeneratedAlways<bigint>;
  started_at: Generated<Date>;
}

export interface S3PartTable {
  upload_id: string;
  number: number;
  blob_id: string;
  size: bigint;
  counted: GeneratedAlways<bigint>;
  etag: string;
  checksum: Json<Checksum> | null;
  modified_at: Generated<Date>;
}

export interface StorageTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  kind: 'storage' | 'log';
  slug: string;
  title: string;
  size_gb: number;
  location: string;
  /** Micro-STAGI for `HOURS_PER_MONTH` hours. */
  price_per_month: bigint;
  bucket_id: number | null;
  /** The server of a log bucket. */
  instance_id: number | null;
  /** Null for a log bucket. */
  created_by: number | null;
  created_at: Created;
  closed_at: Date | null;
  status: StorageStatus;
  status_since: Generated<Date>;
  status_seen_at: Date | null;
  status_deadline: Date | null;
  status_reason: string | null;
  desired: Generated<'kept' | 'gone'>;
  gen: Generated<number>;
  lock_token: string | null;
  lock_owner: number | null;
  lock_expires_at: Date | null;
  next_at: Date | null;
  attempts: Generated<number>;
  last_error: string | null;
}

/** What a storage held at the beginning of an hour. */
export interface StorageSampleTable {
  storage_id: number;
  at: Date;
  used_bytes: bigint;
  object_count: bigint;
}

/** A link to one object. Its key of purpose `share` says when it ends. */
export interface StorageShareTable {
  id: GeneratedAlways<number>;
  storage_id: number;
  key_id: number;
  token_hash: Buffer;
  object_key: Buffer;
  created_at: Created;
}

/** How far the lines of a container are copied to the log bucket of its server. */
export interface LogCopyTable {
  container_id: number;
  storage_id: number;
  /** In the bucket; null before the first chunk. */
  folder: string | null;
  /** Lines up to here belong to a chunk. */
  copied_seq: Generated<bigint>;
  /** Chunks up to this line were removed, as the bucket was full. */
  removed_seq: Generated<bigint>;
  removed_at: Date | null;
  next_at: Date | null;
  attempts: Generated<number>;
  lock_token: string | null;
  lock_owner: number | null;
  lock_expires_at: Date | null;
  /** Nothing more comes. */
  finished_at: Date | null;
}

/** An object of a log bucket: some lines of one container, and the gaps before each. */
export interface LogChunkTable {
  id: GeneratedAlways<bigint>;
  container_id: number;
  storage_id: number;
  first_seq: bigint;
  last_seq: bigint;
  is_end: Generated<boolean>;
  key: string;
  /** `intent`: lines and key are settled, and the object may exist. */
  state: Generated<'intent' | 'done'>;
  bytes: Generated<bigint>;
  lines: number;
  created_at: Created;
}
