import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import type { StorageKey } from '@stagi/contract/storages.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, S3KeyRow } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';
import { createS3Key, KEY_WORKS, lastingCredential, type NewS3Key, revokeS3Key } from '../objects/keys.ts';
import type { Authenticated } from '../sessions/authenticate.ts';
import { lockStorage, type StorageView } from './find.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } } & Pick<Authenticated, 'credential' | 'app'>;

/** Working keys of purpose `person` that one storage may have. */
const MAX_KEYS = 100;

interface KeyView extends S3KeyRow {
  creator: string | null;
  successor: string | null;
}

const SORTABLE: Record<string, string> = {
  createdAt: 's3_key.created_at',
  title: 's3_key.title',
  lastUsedAt: 's3_key.last_used_at',
  mode: 's3_key.mode',
};

const LISTED = sql`s3_key.purpose = 'person' and ${KEY_WORKS}`;

export async function listKeys(
  db: Db,
  { bucket_id: bucketId }: StorageView,
  request: EntityFilterRequest,
): Promise<{ rows: StorageKey[]; count: number }> {
  const where = sql`s3_key.bucket_id = ${bucketId} and ${LISTED} and ${
    request.queryString ? contains(['s3_key.title', 's3_key.access_key_id'], request.queryString) : sql`true`
  }`;
  const column = sql.ref(sortColumn(request, SORTABLE));
  const direction = sql.raw(request.orderByDirection);
  const { rows } = await sql<KeyView>`select s3_key.*, app_user.name as creator, successor.access_key_id as successor
    from s3_key left join app_user on app_user.id = s3_key.made_by
      left join s3_key successor on successor.id = s3_key.replaced_by
    where ${where} order by ${column} ${direction} nulls last, s3_key.id ${direction}
    limit ${request.limit} offset ${offsetOf(request)}`.execute(db);
  const counted = await sql<{ count: number }>`select count(*)::int as count from s3_key where ${where}`.execute(db);
  return { rows: rows.map(presentKey), count: counted.rows[0]!.count };
}

/** The only answer that holds the secret. */
export async function createKey(
  ctx: Caller,
  { id, title, mode, prefix }: ParsedInputOf<typeof api.storages.createKey>,
): Promise<StorageKey & { secretAccessKey: string }> {
  return inTransaction(ctx.db, async (trx) => {
    const storage = await lockStorage(trx, ctx.workspace.id, id);
    requireUsable(storage);
    if (storage.kind === 'log' && mode !== 'read-only')
      throw invalid(text('Keys of a log bucket are read-only: only the platform writes to it'), 'mode');
    return make(ctx, trx, storage, { title, mode, prefix });
  });
}

/** A key with the same rights; the old one ends after the overlap. */
export async function rotateKey(
  ctx: Caller,
  { id, keyId, overlapHours }: ParsedInputOf<typeof api.storages.rotateKey>,
): Promise<StorageKey & { secretAccessKey: string }> {
  return inTransaction(ctx.db, async (trx) => {
    const storage = await lockStorage(trx, ctx.workspace.id, id);
    requireUsable(storage);
    const old = await findKey(trx, storage, keyId);
    if (old.replaced_by !== null) throw refused(text('This key has been rotated already'));
    const made = await make(ctx, trx, storage, { title: old.title, mode: old.mode, prefix: old.prefix });
    await trx
      .updateTable('s3_key')
      .set({
        replaced_by: made.id,
        expires_at: sql<Date>`least(expires_at, clock_timestamp() + make_interval(hours => ${overlapHours}))`,
      })
      .where('id', '=', old.id)
      .execute();
    return made;
  });
}

export async function revokeKey(
  ctx: Caller,
  { id, keyId }: ParsedInputOf<typeof api.storages.revokeKey>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const storage = await lockStorage(trx, ctx.workspace.id, id);
    const { id: found } = await findKey(trx, storage, keyId);
    await revokeS3Key(trx, { id: found });
  });
}

export function requireUsable(storage: StorageView): void {
  const verdict = storageCan.read({ ...storage, readOnly: storage.read_only });
  if (!verdict.allowed) throw refused(verdict.reason);
}

async function findKey(trx: Db, storage: StorageView, keyId: number): Promise<S3KeyRow> {
  const key = await trx
    .selectFrom('s3_key')
    .selectAll()
    .where('bucket_id', '=', storage.bucket_id)
    .where(isId('s3_key.id', keyId))
    .where(sql<boolean>`${LISTED}`)
    .executeTakeFirst();
  if (!key) throw notFound();
  return key;
}

async function make(
  ctx: Caller,
  trx: Db,
  storage: StorageView,
  given: Pick<NewS3Key, 'title' | 'mode' | 'prefix'>,
): Promise<StorageKey & { secretAccessKey: string }> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from s3_key
    where s3_key.bucket_id = ${storage.bucket_id} and ${LISTED}`.execute(trx);
  if (rows[0]!.count >= MAX_KEYS)
    throw refused(text('A storage can have {{limit}} keys: revoke one that is not used'), { limit: MAX_KEYS });
  const made = await createS3Key(ctx, trx, {
    ...given,
    purpose: 'person',
    workspaceId: ctx.workspace.id,
    bucketId: storage.bucket_id,
    madeBy: ctx.user.id,
    madeWith: lastingCredential(ctx),
    expiresAt: null,
  });
  const found = await sql<KeyView>`select s3_key.*, app_user.name as creator, null as successor
    from s3_key left join app_user on app_user.id = s3_key.made_by where s3_key.id = ${made.id}`.execute(trx);
  return { ...presentKey(found.rows[0]!), secretAccessKey: made.secretAccessKey };
}

const presentKey = (row: KeyView): StorageKey => ({
  id: row.id,
  title: row.title,
  accessKeyId: row.access_key_id,
  mode: row.mode,
  prefix: row.prefix,
  createdAt: row.created_at.toISOString(),
  createdBy: row.creator,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  expiresAt: row.expires_at?.toISOString() ?? null,
  replacedBy: row.successor,
});
