import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** The folder of objects' bytes in each location. Nothing else lies in it. */
export const BLOB_FOLDER = 'objects/';
export const blobName = (id: string): string => `${BLOB_FOLDER}${id}`;

/** They belong to nothing any more: `removal.ts` removes their bytes. */
export async function doomBlobs(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update s3_blob set state = 'doomed' where id = any(${ids}::uuid[])`.execute(db);
}
