import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import type { S3Part, S3Upload } from '@stagi/s3/backend.ts';
import { multipartEtag } from '@stagi/s3/etag.ts';
import { NO_TYPE } from '@stagi/s3/objectHeaders.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { storedType } from '../objects/contentTypes.ts';
import { listUploads } from '../objects/listUploads.ts';
import { abortUpload, completeUpload, createUpload, findUpload, listParts } from '../objects/uploads.ts';
import { type StorageView, viewStorage } from './find.ts';
import { requireUsable } from './keys.ts';
import { PART_LINK_LIFETIME_S, presign } from './links.ts';
import { presentObject, requireWritable } from './objects.ts';
import { withPublicErrors } from './publicErrors.ts';

type Caller = Parameters<typeof presign>[0];
type Storages = typeof api.storages;
type Output<K extends keyof Storages> = Omit<OutputOf<Storages[K]>, 'isSuccess'>;

const MIB = 1024 * 1024;
const MIN_PART_BYTES = 8 * MIB;
const MAX_PARTS = 10_000;
/** 5 TiB, the largest object of S3. */
const MAX_OBJECT_BYTES = 5 * 1024 * 1024 * MIB;
/** Open uploads that one call lists. */
const LISTED_UPLOADS = 100;

export async function beginMultipart(
  ctx: Caller,
  { id, key, sizeBytes, contentType }: ParsedInputOf<Storages['beginMultipart']>,
): Promise<Output<'beginMultipart'>> {
  const storage = await writable(ctx, id);
  if (sizeBytes > MAX_OBJECT_BYTES) throw invalid(text('An object can have at most 5 TiB'), 'sizeBytes');
  requireRoom(storage, sizeBytes);
  const upload = await withPublicErrors(() =>
    createUpload(ctx.db, storage.bucket_id!, key, {
      headers: { 'content-type': contentType || storedType(key) },
      metadata: {},
      tags: {},
      checksum: null,
    }),
  );
  return { uploadId: upload.id, partBytes: partBytesOf(sizeBytes) };
}

/** Whole MiB, so that no upload has more than 10,000 parts. */
export const partBytesOf = (sizeBytes: number): number =>
  Math.max(MIN_PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS / MIB) * MIB);

/** Known before the first byte is sent. What others store meanwhile is found at the end. */
function requireRoom(storage: StorageView, sizeBytes: number): void {
  const free = BigInt(storage.size_gb) * BigInt(GB) - storage.used_bytes;
  if (BigInt(sizeBytes) > free) throw refused(text('The storage is full: make it larger or delete objects'));
}

export async function partLinks(
  ctx: Caller,
  { id, key, uploadId, partNumbers }: ParsedInputOf<Storages['multipartPartLinks']>,
): Promise<Output<'multipartPartLinks'>> {
  await openUpload(ctx.db, await writable(ctx, id), key, uploadId);
  const { links, expiresAt } = await presign(
    ctx,
    id,
    partNumbers.map((partNumber) => ({
      method: 'PUT',
      key,
      query: { partNumber: String(partNumber), uploadId },
    })),
    { expiresInSeconds: PART_LINK_LIFETIME_S },
  );
  return { links: links.map((link, index) => ({ partNumber: partNumbers[index]!, link })), expiresAt };
}

export async function openMultiparts(
  ctx: Caller,
  { id, key }: ParsedInputOf<Storages['openMultiparts']>,
): Promise<Output<'openMultiparts'>> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  requireUsable(storage);
  const { entries } = await listUploads(ctx.db, storage.bucket_id!, {
    prefix: key ?? '',
    delimiter: '',
    after: null,
    limit: LISTED_UPLOADS,
  });
  const uploads = entries.flatMap((entry) => (entry.kind === 'upload' ? [entry.upload] : []));
  const wanted = uploads.filter((upload) => key === undefined || upload.key === key);
  return {
    uploads: await Promise.all(
      wanted.map(async (upload) => ({
        uploadId: upload.id,
        key: upload.key,
        startedAt: upload.startedAt.toISOString(),
        parts: (await storedParts(ctx.db, upload)).map(({ number, size, etag }) => ({
          partNumber: number,
          sizeBytes: size,
          etag,
        })),
      })),
    ),
  };
}

/** Makes the object of all parts that are stored. */
export async function completeMultipart(
  ctx: Caller,
  { id, key, uploadId }: ParsedInputOf<Storages['completeMultipart']>,
): Promise<Output<'completeMultipart'>> {
  const storage = await writable(ctx, id);
  const upload = await openUpload(ctx.db, storage, key, uploadId);
  const parts = await storedParts(ctx.db, upload);
  if (parts.length === 0) throw refused(text('No part of this upload is stored yet'));
  const numbers = parts.map(({ number }) => number);
  const object = await withPublicErrors(() =>
    completeUpload(ctx.db, upload, numbers, { etag: multipartEtag(parts), checksum: null }),
  );
  return { entity: presentObject({ ...object, contentType: object.headers['content-type'] ?? NO_TYPE }) };
}

export async function abortMultipart(
  ctx: Caller,
  { id, key, uploadId }: ParsedInputOf<Storages['abortMultipart']>,
): Promise<void> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  requireUsable(storage);
  const upload = await openUpload(ctx.db, storage, key, uploadId);
  await withPublicErrors(() => abortUpload(ctx.db, upload));
}

async function writable(ctx: Caller, id: number): Promise<StorageView> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  requireWritable(storage);
  return storage;
}

async function openUpload(db: Db, storage: StorageView, key: string, uploadId: string): Promise<S3Upload> {
  const upload = await findUpload(db, storage.bucket_id!, key, uploadId);
  if (!upload) throw notFound();
  return upload;
}

const storedParts = async (db: Db, upload: S3Upload): Promise<S3Part[]> =>
  (await listParts(db, upload, 0, MAX_PARTS)).parts;
