import type { Readable } from 'node:stream';
import type { ByteRange } from './blobStore.ts';

/**
 * What the protocol needs of its surroundings: keys, buckets, objects, quota. Methods throw `S3Error` for what the S3 API
 * has a code for; anything else becomes `InternalError`.
 */
export interface S3Backend {
  /** Null when it is unknown, revoked or expired, or when its workspace is disabled. Read anew for each request. */
  findKey(accessKeyId: string): Promise<S3Key | null>;
  /** Which of them still work. Open transfers ask once a second, so that a revoked key ends them within 2 s. */
  stillWorking(accessKeyIds: readonly string[]): Promise<ReadonlySet<string>>;

  /** The media type that the end of a name stands for, for clients that give none; null: it is not known. */
  typeOfName(key: string): string | null;

  findBucket(name: string): Promise<S3Bucket | null>;
  /** The buckets that the key opens, by name. */
  listBuckets(key: S3Key): Promise<S3Bucket[]>;
  /** For keys with `managesBuckets`. Throws BucketAlreadyExists, BucketAlreadyOwnedByYou, InvalidBucketName. */
  createBucket(key: S3Key, name: string): Promise<S3Bucket>;
  /** For keys with `managesBuckets`. Throws BucketNotEmpty. */
  deleteBucket(key: S3Key, bucket: S3Bucket): Promise<void>;
  setCors(bucket: S3Bucket, rules: readonly CorsRule[] | null): Promise<void>;

  findObject(bucket: S3Bucket, key: string): Promise<S3Object | null>;
  /** The bytes of an object, of all its parts in turn. */
  readObject(object: S3Object, range?: ByteRange): Promise<Readable>;

  /**
   * Stores bytes that belong to no object yet; durable when it resolves. Throws QuotaExceeded before it reads, when
   * `expectedBytes` is known and does not fit, and AccessDenied when the bucket is read-only (zero balance). When the body
   * throws, nothing is left and the error is passed on. What is neither committed nor discarded is removed by the repair
   * after the process has ended.
   */
  writeBlob(bucket: S3Bucket, body: AsyncIterable<Uint8Array>, expectedBytes: number | null): Promise<Blob>;
  discardBlob(blob: Blob): Promise<void>;
  /**
   * Makes a blob the object of this key, atomically, in place of an older one. Checks key, quota and condition again in
   * the same transaction: what was revoked or filled up while the bytes came is refused, and the blob is discarded.
   */
  commitObject(
    by: S3Key,
    bucket: S3Bucket,
    key: string,
    content: NewObject,
    condition?: WriteCondition,
  ): Promise<S3Object>;
  /** Replaces headers, metadata and tags of an object whose bytes stay (copy onto itself). Null: gone meanwhile. */
  replaceAttributes(by: S3Key, object: S3Object, attributes: ObjectAttributes): Promise<S3Object | null>;
  setTags(by: S3Key, object: S3Object, tags: Record<string, string>): Promise<void>;
  /** Up to 1,000; those that do not exist count as deleted. `condition`: for a single key only. */
  deleteObjects(by: S3Key, bucket: S3Bucket, keys: readonly string[], condition?: WriteCondition): Promise<void>;
  listObjects(bucket: S3Bucket, request: ListRequest): Promise<ListPage>;

  createUpload(by: S3Key, bucket: S3Bucket, key: string, upload: NewUpload): Promise<S3Upload>;
  /** Null when there is none of this id for this key. */
  findUpload(bucket: S3Bucket, key: string, uploadId: string): Promise<S3Upload | null>;
  /** In place of an older part of the same number. Parts count against the quota. */
  putPart(by: S3Key, bucket: S3Bucket, upload: S3Upload, part: NewPart): Promise<S3Part>;
  /** By number, those above `after`. */
  listParts(upload: S3Upload, after: number, limit: number): Promise<{ parts: S3Part[]; isTruncated: boolean }>;
  /**
   * Makes the listed parts one object, atomically; its other parts are removed. The protocol has checked order, sizes, etags
   * and has computed `content`. A repetition after a lost answer finds the object (`findCompletedUpload`).
   */
  completeUpload(
    by: S3Key,
    bucket: S3Bucket,
    upload: S3Upload,
    partNumbers: readonly number[],
    content: Pick<NewObject, 'etag' | 'checksum'>,
    condition?: WriteCondition,
  ): Promise<S3Object>;
  /** The object that this upload became within the last day, while it still is what the upload made. */
  findCompletedUpload(bucket: S3Bucket, key: string, uploadId: string): Promise<S3Object | null>;
  abortUpload(by: S3Key, bucket: S3Bucket, upload: S3Upload): Promise<void>;
  /** By key, then by start. */
  listUploads(bucket: S3Bucket, request: UploadListRequest): Promise<UploadPage>;
}

/** An access key and what it opens. */
export interface S3Key {
  accessKeyId: string;
  secretAccessKey: string;
  /** The only bucket that it opens; null: the buckets of its owner (keys of an operator). */
  bucket: string | null;
  mode: 'read-only' | 'read-write';
  /** It opens objects whose keys begin with it; empty: all. */
  prefix: string;
  /** It opens only the object whose key is the prefix. */
  opensOneObject: boolean;
  owner: S3Owner;
  managesBuckets: boolean;
}

export interface S3Owner {
  id: string;
  displayName: string;
}

export interface S3Bucket {
  id: number;
  name: string;
  owner: S3Owner;
  createdAt: Date;
  /** Besides the platform's own web app, which is always allowed. */
  cors: readonly CorsRule[];
}

/** As in PutBucketCors. */
export interface CorsRule {
  id?: string;
  allowedOrigins: string[];
  allowedMethods: string[];
  allowedHeaders: string[];
  exposeHeaders: string[];
  maxAgeSeconds?: number;
}

/** What a writer chooses besides the bytes. */
export interface ObjectAttributes {
  /** Lower-case: content-type, cache-control, content-disposition, content-encoding, content-language, expires. */
  headers: Record<string, string>;
  /** `x-amz-meta-*` without the prefix, lower-case. */
  metadata: Record<string, string>;
  tags: Record<string, string>;
}

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256';

export interface Checksum {
  algorithm: ChecksumAlgorithm;
  /** COMPOSITE: of the checksums of the parts. */
  type: 'FULL_OBJECT' | 'COMPOSITE';
  /** Base64; with `-<parts>` when composite. */
  value: string;
}

/** Bytes that are stored and belong to nothing yet. */
export interface Blob {
  id: string;
  size: number;
}

export interface NewObject extends ObjectAttributes {
  blob: Blob;
  /** Without quotes. */
  etag: string;
  checksum: Checksum | null;
}

export interface S3Object extends ObjectAttributes {
  bucketId: number;
  key: string;
  size: number;
  etag: string;
  checksum: Checksum | null;
  modifiedAt: Date;
  /** Its bytes in turn: one blob, or one for each part of a multipart upload. */
  blobs: readonly (Blob & { location: string })[];
  isMultipart: boolean;
}

/** If-Match and If-None-Match of a write. `*`: any object. Throws PreconditionFailed, or NoSuchKey for If-Match on none. */
export interface WriteCondition {
  ifMatch?: string;
  ifNoneMatch?: '*';
}

export interface NewUpload extends ObjectAttributes {
  checksum: Pick<Checksum, 'algorithm' | 'type'> | null;
}

export interface S3Upload extends NewUpload {
  id: string;
  bucketId: number;
  key: string;
  startedAt: Date;
}

export interface NewPart {
  number: number;
  blob: Blob;
  etag: string;
  checksum: Checksum | null;
}

export interface S3Part {
  number: number;
  size: number;
  etag: string;
  checksum: Checksum | null;
  modifiedAt: Date;
}

export interface ListRequest {
  prefix: string;
  /** Keys that share the part up to it (after the prefix) become one common prefix. Empty: none. */
  delimiter: string;
  /** Entries after it in the order of UTF-8 bytes; a common prefix that was answered is such a marker, too. */
  after: string | null;
  /** Objects and common prefixes together. */
  limit: number;
}

export type ListEntry = { kind: 'object'; object: ListedObject } | { kind: 'prefix'; prefix: string };

export type ListedObject = Pick<S3Object, 'key' | 'size' | 'etag' | 'modifiedAt' | 'checksum'> & {
  contentType: string;
};

export interface ListPage {
  entries: ListEntry[];
  /** Whether there are more; the last entry is the marker to go on from. */
  isTruncated: boolean;
}

export interface UploadListRequest extends Pick<ListRequest, 'prefix' | 'delimiter' | 'limit'> {
  /** With an upload id: uploads of this key that began later, too. The key may be a common prefix that was answered. */
  after: { key: string; uploadId: string | null } | null;
}

export type UploadEntry = { kind: 'upload'; upload: S3Upload } | { kind: 'prefix'; prefix: string };

export interface UploadPage {
  entries: UploadEntry[];
  isTruncated: boolean;
}
