import type { TaskInputPage, TaskInputRequest } from '@stagi/contract/taskTransfer.ts';
import { text } from '@stagi/contract/text.ts';
import type { ListedObject } from '@stagi/s3/backend.ts';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import { keysWithOthersBelow } from '../objects/keysWithOthersBelow.ts';
import { listObjects } from '../objects/listObjects.ts';
import { isFilePath } from './filePath.ts';
import { linkFor } from './links.ts';
import { keyOf, type OpenRun, storageOf } from './openRun.ts';

const PAGE = 500;

type Found = Pick<ListedObject, 'key' | 'size'>;

/** A page of the input files of a run, in the order of their keys. Throws 422 for what cannot be a file. */
export async function inputPage(
  ctx: Pick<Context, 'db' | 'secrets' | 's3MachineOrigin' | 'clock'>,
  run: OpenRun,
  { after }: z.output<typeof TaskInputRequest>,
): Promise<z.input<typeof TaskInputPage>> {
  const { bucket, bucket_id: bucketId } = await storageOf(ctx, run, 'read');
  const place = run.input_url_path;
  const isPrefix = place.endsWith('/');
  const { objects, next } = isPrefix ? await below(ctx, bucketId, place, after) : await one(ctx, bucketId, place);
  if (objects.length === 0 && after === null)
    throw new PublicError(422, text('There is nothing at {{key}} in its storage'), { values: { key: place } });
  // How the web app and others keep a folder in which there is nothing.
  const files = objects.filter(({ key, size }) => !(key.endsWith('/') && size === 0));
  const pathOf = (key: string): string => (isPrefix ? key.slice(place.length) : key.slice(key.lastIndexOf('/') + 1));
  for (const { key } of files) if (!isFilePath(pathOf(key))) throw noFile(key);
  if (isPrefix) {
    const [folder] = await keysWithOthersBelow(
      ctx.db,
      bucketId,
      files.map(({ key }) => key),
    );
    if (folder !== undefined) throw noFile(folder);
  }
  const signer = await keyOf(ctx, run, 'input');
  return {
    files: files.map(({ key, size }) => ({
      path: pathOf(key),
      sizeBytes: size,
      url: linkFor(ctx, signer, { method: 'GET', bucket, key }),
    })),
    next,
  };
}

const noFile = (key: string): PublicError =>
  new PublicError(422, text('This object cannot be a file: {{key}}'), { values: { key } });

interface Page {
  objects: Found[];
  next: string | null;
}

async function below(
  { db }: Pick<Context, 'db'>,
  bucketId: number,
  prefix: string,
  after: string | null,
): Promise<Page> {
  const { entries, isTruncated } = await listObjects(db, bucketId, { prefix, delimiter: '', after, limit: PAGE });
  const objects = entries.flatMap((entry) => (entry.kind === 'object' ? [entry.object] : []));
  return { objects, next: isTruncated ? (objects.at(-1)?.key ?? null) : null };
}

async function one({ db }: Pick<Context, 'db'>, bucketId: number, key: string): Promise<Page> {
  const { entries } = await listObjects(db, bucketId, { prefix: key, delimiter: '', after: null, limit: 1 });
  // No key that begins with it comes before it.
  const objects = entries.flatMap((entry) =>
    entry.kind === 'object' && entry.object.key === key ? [entry.object] : [],
  );
  return { objects, next: null };
}
