import { randomInt } from 'node:crypto';
import { LOG_BUCKET_GB } from '@stagi/contract/instances.ts';
import { LOG_BUCKET_PREFIX } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import { LOCAL_LOCATION } from '../config/objectStorage.ts';
import type { Db } from '../db/schema.ts';
import { announceStorage } from '../storages/status.ts';

interface Server {
  id: number;
  workspaceId: number;
  slug: string;
  title: string;
}

/** Stores the log bucket of a new rented server, in the transaction that stores the server. */
export async function makeLogBucket(trx: Db, server: Server): Promise<void> {
  const { id } = await trx
    .insertInto('storage')
    .values({
      workspace_id: server.workspaceId,
      kind: 'log',
      slug: `${LOG_BUCKET_PREFIX}${server.slug}-${randomSuffix()}`,
      title: titleOf(server.title),
      size_gb: LOG_BUCKET_GB,
      location: LOCAL_LOCATION,
      price_per_month: 0n,
      instance_id: server.id,
      status: 'renting',
      next_at: sql<Date>`now()`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await announceStorage(trx, { id, workspace_id: server.workspaceId });
  await announce(trx, 'due', { kind: 'storage' });
}

/** The title follows the server's; the name of the bucket, which programs use, stays. */
export async function renameLogBucket(trx: Db, instanceId: number, serverTitle: string): Promise<void> {
  await trx
    .updateTable('storage')
    .set({ title: titleOf(serverTitle) })
    .where('instance_id', '=', instanceId)
    .execute();
}

const titleOf = (serverTitle: string): string => `${serverTitle} logs`;

const SUFFIX_LENGTH = 6;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Keeps the name free on the whole platform, also after a server of the same name. */
function randomSuffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}
