import type { S3Object, S3Part, S3Upload } from '@stagi/s3/backend.ts';
import type { Selectable } from 'kysely';
import type { S3ObjectTable, S3PartTable, S3UploadTable } from '../db/storageTables.ts';

/** Keys are kept as UTF-8, whose order is that of a listing; the order of a text depends on the database's language. */
export const keyBytes = (key: string): Buffer => Buffer.from(key, 'utf8');
export const keyText = (key: Buffer): string => key.toString('utf8');

export const presentObject = (row: Selectable<S3ObjectTable>, location: string): S3Object => ({
  bucketId: row.bucket_id,
  key: keyText(row.key),
  size: Number(row.size),
  etag: row.etag,
  checksum: row.checksum,
  headers: row.headers,
  metadata: row.metadata,
  tags: row.tags,
  modifiedAt: row.modified_at,
  blobs: row.blobs.map((id, index) => ({ id, size: Number(row.blob_sizes[index]), location })),
  isMultipart: row.upload_id !== null,
});

export const presentUpload = (row: Selectable<S3UploadTable>): S3Upload => ({
  id: row.id,
  bucketId: row.bucket_id,
  key: keyText(row.key),
  checksum: row.checksum,
  headers: row.headers,
  metadata: row.metadata,
  tags: row.tags,
  startedAt: row.started_at,
});

export const presentPart = (row: Selectable<S3PartTable>): S3Part => ({
  number: row.number,
  size: Number(row.size),
  etag: row.etag,
  checksum: row.checksum,
  modifiedAt: row.modified_at,
});
