import { GB } from '@stagi/contract/storageRules.ts';
import { outputPrefix } from '@stagi/contract/taskRules.ts';
import type {
  TaskOutputLinks,
  TaskOutputLinksRequest,
  TaskUpload,
  TaskUploadBegin,
  TaskUploadComplete,
  TaskUploadParts,
  TaskUploadPartsRequest,
} from '@stagi/contract/taskTransfer.ts';
import { text } from '@stagi/contract/text.ts';
import type { S3Upload } from '@stagi/s3/backend.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { multipartEtag } from '@stagi/s3/etag.ts';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { conflict, PublicError } from '../http/errors.ts';
import { storedType } from '../objects/contentTypes.ts';
import { listUploads } from '../objects/listUploads.ts';
import {
  abortUpload,
  completeUpload,
  createUpload,
  findCompletedUpload,
  findUpload,
  listParts,
} from '../objects/uploads.ts';
import type { StorageView } from '../storages/find.ts';
import { partBytesOf } from '../storages/multipart.ts';
import { outputKey } from './filePath.ts';
import { linkFor } from './links.ts';
import { keyOf, type OpenRun, storageOf } from './openRun.ts';

type Ctx = Pick<Context, 'db' | 'secrets' | 's3MachineOrigin' | 'clock'>;

const MAX_PARTS = 10_000;
/** 5 TiB, the largest object of S3. */
const MAX_OBJECT_BYTES = 5 * 1024 ** 4;
const UPLOADS_AT_ONCE = 100;

export async function outputLinks(
  ctx: Ctx,
  run: OpenRun,
  { files }: z.output<typeof TaskOutputLinksRequest>,
): Promise<z.input<typeof TaskOutputLinks>> {
  const keys = files.map(({ path }) => keyOfFile(run, path));
  const storage = await storageOf(ctx, run, 'write');
  requireRoom(
    storage,
    files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  );
  const signer = await keyOf(ctx, run, 'output');
  const { bucket } = storage;
  return {
    links: files.map(({ path }, index) => ({
      path,
      url: linkFor(ctx, signer, { method: 'PUT', bucket, key: keys[index]! }),
    })),
  };
}

export async function beginUpload(
  ctx: Ctx,
  run: OpenRun,
  { path, sizeBytes }: z.output<typeof TaskUploadBegin>,
): Promise<z.input<typeof TaskUpload>> {
  const key = keyOfFile(run, path);
  if (sizeBytes > MAX_OBJECT_BYTES) throw new PublicError(422, text('An object can have at most 5 TiB'));
  const storage = await storageOf(ctx, run, 'write');
  const { accessKeyId } = await keyOf(ctx, run, 'output');
  return withStatuses(async () => {
    for (const upload of await uploadsOf(ctx.db, storage.bucket_id, key))
      await abortUpload(ctx.db, upload, { accessKeyId });
    const now = await storageOf(ctx, run, 'write');
    requireRoom(now, sizeBytes);
    const upload = { headers: { 'content-type': storedType(key) }, metadata: {}, tags: {}, checksum: null };
    const { id } = await createUpload(ctx.db, storage.bucket_id, key, upload, { accessKeyId });
    return { uploadId: id, partBytes: partBytesOf(sizeBytes) };
  });
}

export async function uploadParts(
  ctx: Ctx,
  run: OpenRun,
  { path, uploadId, partNumbers }: z.output<typeof TaskUploadPartsRequest>,
): Promise<z.input<typeof TaskUploadParts>> {
  const key = keyOfFile(run, path);
  const { bucket, bucket_id: bucketId } = await storageOf(ctx, run, 'write');
  if (!(await findUpload(ctx.db, bucketId, key, uploadId))) throw noUpload();
  const signer = await keyOf(ctx, run, 'output');
  return {
    links: partNumbers.map((partNumber) => ({
      partNumber,
      url: linkFor(ctx, signer, {
        method: 'PUT',
        bucket,
        key,
        query: { partNumber: String(partNumber), uploadId },
      }),
    })),
  };
}

/** Makes the file of its parts. Succeeds again when it was completed and its answer was lost. */
export async function completeOutput(
  ctx: Ctx,
  run: OpenRun,
  { path, uploadId }: z.output<typeof TaskUploadComplete>,
): Promise<Record<never, never>> {
  const key = keyOfFile(run, path);
  const { bucket_id: bucketId } = await storageOf(ctx, run, 'write');
  const { accessKeyId } = await keyOf(ctx, run, 'output');
  const upload = await findUpload(ctx.db, bucketId, key, uploadId);
  if (!upload) {
    if (await findCompletedUpload(ctx.db, bucketId, key, uploadId)) return {};
    throw noUpload();
  }
  const { parts } = await listParts(ctx.db, upload, 0, MAX_PARTS);
  const numbers = parts.map(({ number }) => number);
  if (numbers.length === 0 || numbers.at(-1) !== numbers.length)
    throw conflict(text('Parts of this upload are missing'));
  await withStatuses(() =>
    completeUpload(ctx.db, upload, numbers, { etag: multipartEtag(parts), checksum: null }, undefined, { accessKeyId }),
  );
  return {};
}

const keyOfFile = (run: OpenRun, path: string): string => outputKey(outputPrefix(run.task_id), path);

const noUpload = (): PublicError => conflict(text('This upload is not open any more: begin it again'));

/** The uploads of exactly this key. */
async function uploadsOf(db: Db, bucketId: number, key: string): Promise<S3Upload[]> {
  const { entries } = await listUploads(db, bucketId, {
    prefix: key,
    delimiter: '',
    after: null,
    limit: UPLOADS_AT_ONCE,
  });
  return entries.flatMap((entry) => (entry.kind === 'upload' && entry.upload.key === key ? [entry.upload] : []));
}

const FULL = text('The storage is full: make it larger or delete objects');

/** Known before the first byte is sent. What others store meanwhile is found at the end. */
function requireRoom(storage: StorageView, bytes: number): void {
  if (BigInt(bytes) > BigInt(storage.size_gb) * BigInt(GB) - storage.used_bytes) throw conflict(FULL);
}

/** What the store of objects refuses, with the statuses of the contract. */
async function withStatuses<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    switch (error.code) {
      case 'QuotaExceeded':
        throw conflict(FULL);
      case 'NoSuchUpload':
      case 'InvalidPart':
        throw noUpload();
      case 'NoSuchBucket':
        throw new PublicError(410, text('Its storage was deleted'));
      case 'AccessDenied':
        // The run ended or the balance ran out meanwhile: the next request is told which.
        throw conflict(text('Nothing can be written to this storage now'));
      default:
        throw error;
    }
  }
}
