import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { BlobMissing } from '@stagi/s3/blobStore.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { notFound, unavailable } from '../http/errors.ts';

/** Where the platform's own files lie in the store. */
export const FILES_FOLDER = 'files/';

export const blobName = (id: string): string => FILES_FOLDER + id;

/** Bytes that are stored and that no row refers to yet. */
export interface StagedFile {
  id: string;
  size: number;
}

type Keeper = Pick<Context, 'db' | 'files' | 'log'>;

/**
 * Stores contents, then runs `work`, which refers to them in one transaction with `keepFile`. When it fails they are
 * removed. Not to be called in a transaction: it waits for the disk.
 */
export async function withStagedFiles<T>(
  ctx: Keeper,
  contents: readonly Uint8Array[],
  work: (staged: StagedFile[]) => Promise<T>,
): Promise<T> {
  const intents: string[] = [];
  try {
    const staged: StagedFile[] = [];
    for (const content of contents) {
      const id = randomUUID();
      await ctx.db.insertInto('stored_file').values({ id }).execute();
      intents.push(id);
      staged.push({ id, size: await ctx.files.put(blobName(id), once(content)) });
    }
    return await work(staged);
  } catch (error) {
    await discard(ctx.db, intents).catch((err: unknown) => ctx.log.warn({ err }, 'files are left to the worker'));
    throw error;
  }
}

/** Keeps a staged file, in the transaction that stores the reference to it. */
export async function keepFile(trx: Db, { id, size }: StagedFile): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('stored_file')
    .set({ state: 'stored', size })
    .where('id', '=', id)
    .where('state', '=', 'writing')
    .executeTakeFirst();
  // It was given up meanwhile, as it took too long.
  if (numUpdatedRows === 0n) throw unavailable();
}

/** The bytes of a file; 404 when they were removed after its row was read. */
export async function readFile({ files }: Pick<Context, 'files'>, id: string): Promise<Buffer> {
  try {
    return await buffer(await files.get(blobName(id)));
  } catch (error) {
    if (error instanceof BlobMissing) throw notFound();
    throw error;
  }
}

/** A failure is no loss: what stays an intent is given up by the worker. */
async function discard(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('stored_file')
    .set({ state: 'doomed' })
    .where('id', 'in', ids)
    .where('state', '=', 'writing')
    .execute();
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
