import { randomBytes, randomInt } from 'node:crypto';
import { type Permission, rolesWith } from '@stagi/contract/permissions.ts';
import { TASKS_PREFIX } from '@stagi/contract/taskRules.ts';
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Database, Db } from '../db/schema.ts';
import type { S3KeyTable } from '../db/storageTables.ts';
import type { Authenticated, Credential } from '../sessions/authenticate.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ACCESS_KEY_ID_LENGTH = 20;
/** 40 characters of base64, as clients expect. */
const SECRET_BYTES = 30;

export interface NewS3Key {
  purpose: S3KeyTable['purpose'];
  /** Null for `admin`. */
  workspaceId: number | null;
  bucketId: number | null;
  title: string;
  mode: S3KeyTable['mode'];
  prefix: string;
  /** Only the object whose key is `prefix`, not all whose keys begin with it. */
  opensOneObject?: boolean;
  /** Null: the platform itself, or an operator. Such a key ends with no account. */
  madeBy: number | null;
  /**
   * The API token that it ends with; for `browser` also the session. Else the session of an app, with which it ends once
   * the app is shut out. Null: it ends with none.
   */
  madeWith: Pick<Credential, 'kind' | 'id'> | null;
  expiresAt: Date | null;
  /** For `admin`: whose buckets it opens. */
  adminOwner?: string;
}

export interface CreatedS3Key {
  id: number;
  accessKeyId: string;
  secretAccessKey: string;
}

export async function createS3Key(ctx: Pick<Context, 'secrets'>, db: Db, key: NewS3Key): Promise<CreatedS3Key> {
  const accessKeyId = newAccessKeyId();
  const secretAccessKey = randomBytes(SECRET_BYTES).toString('base64');
  const { id } = await db
    .insertInto('s3_key')
    .values({
      access_key_id: accessKeyId,
      secret_sealed: ctx.secrets.seal(secretAccessKey, placeOf(accessKeyId)),
      purpose: key.purpose,
      workspace_id: key.workspaceId,
      bucket_id: key.bucketId,
      admin_owner: key.adminOwner ?? null,
      title: key.title,
      mode: key.mode,
      prefix: key.prefix,
      opens_one_object: key.opensOneObject ?? false,
      made_by: key.madeBy,
      ...credentialColumns(key.madeWith),
      outlives_maker: key.madeBy === null,
      expires_at: key.expiresAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, accessKeyId, secretAccessKey };
}

/** The columns that say what a key was made with. */
export const credentialColumns = (made: NewS3Key['madeWith']) => ({
  api_token_id: typeof made?.id === 'number' ? made.id : null,
  session_id: typeof made?.id === 'string' ? made.id : null,
});

/** The token or app that a listed key or a share link ends with; null: it was made by its maker in person. */
export const lastingCredential = ({ credential, app }: Pick<Authenticated, 'credential' | 'app'>) =>
  credential.kind === 'token' || app ? credential : null;

/** What one signs with, from the row of a key. */
export function openS3Key(
  ctx: Pick<Context, 'secrets'>,
  row: { access_key_id: string; secret_sealed: string },
): { accessKeyId: string; secretAccessKey: string } {
  return {
    accessKeyId: row.access_key_id,
    secretAccessKey: ctx.secrets.open(row.secret_sealed, placeOf(row.access_key_id)),
  };
}

/** Ends the keys that `where` names; answers their ids. Transfers that they opened are cut within 2 s. */
export async function revokeS3Key(
  db: Db,
  where: { id?: number; bucketId?: number; workspaceId?: number; madeBy?: number; sessionId?: string },
): Promise<number[]> {
  const { id, bucketId, workspaceId, madeBy, sessionId } = where;
  if ([id, bucketId, workspaceId, madeBy, sessionId].every((value) => value === undefined))
    throw new Error('revokeS3Key needs a condition: it would end every key');
  const revoked = await db
    .updateTable('s3_key')
    .set({ revoked_at: sql<Date>`clock_timestamp()` })
    .where('revoked_at', 'is', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .$if(bucketId !== undefined, (query) => query.where('bucket_id', '=', bucketId!))
    .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId!))
    .$if(madeBy !== undefined, (query) => query.where('made_by', '=', madeBy!))
    .$if(sessionId !== undefined, (query) => query.where('session_id', '=', sessionId!))
    .returning('id')
    .execute();
  return revoked.map((key) => key.id);
}

/**
 * Removes the rows of keys that nobody is told of, so that those of ended tasks do not pile up. They end as revoked ones
 * do.
 */
export async function removeS3Keys(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length > 0)
    await db
      .deleteFrom('s3_key')
      .where('id', 'in', [...ids])
      .where('purpose', '=', 'task')
      .execute();
}

/** Keeps the keys and share links that somebody made, which then end with neither their membership nor their account. */
export async function keepS3Keys(db: Db, { workspaceId, madeBy }: { workspaceId: number; madeBy: number }) {
  await db
    .updateTable('s3_key')
    .set({ outlives_maker: true })
    .where('workspace_id', '=', workspaceId)
    .where('made_by', '=', madeBy)
    .where('purpose', 'in', ['person', 'share'])
    // Not one that has ended: it would work again.
    .where(KEY_WORKS)
    .execute();
  // What the web app signed for them ends with them.
  await db
    .updateTable('s3_key')
    .set({ revoked_at: sql<Date>`clock_timestamp()` })
    .where('workspace_id', '=', workspaceId)
    .where('made_by', '=', madeBy)
    .where('purpose', '=', 'browser')
    .where('revoked_at', 'is', null)
    .execute();
}

/** SQL: the roles whose holders may do this in the web app. */
const roles = (permission: Permission): RawBuilder<unknown> =>
  sql.join(rolesWith(permission).map((role) => sql.lit(role)));

/**
 * SQL: whether a key works now. Its statement reads `s3_key`. It asks everything anew, so that whatever ends a key ends
 * it in every process at once: also a lost role, and the end of the API token that it was made with.
 */
export const KEY_WORKS = sql<boolean>`(
  s3_key.revoked_at is null
  and (s3_key.expires_at is null or s3_key.expires_at > clock_timestamp())
  and (s3_key.purpose = 'admin' or (
    exists (select from s3_bucket b where b.id = s3_key.bucket_id and b.closed_at is null)
    and exists (select from workspace w
      where w.id = s3_key.workspace_id and w.disabled_at is null and w.deleted_at is null)
    and (s3_key.outlives_maker or (
      exists (select from membership m join app_user u on u.id = m.user_id
        where m.workspace_id = s3_key.workspace_id and m.user_id = s3_key.made_by
          and u.disabled_at is null and u.deleted_at is null
          and (m.role in (${roles('INSTANCE_RENTED_MANAGEMENT')})
            or s3_key.purpose = 'browser' and s3_key.prefix = ${sql.lit(TASKS_PREFIX)}
              and m.role in (${roles('RUNNING_TASKS')})))
      and (s3_key.api_token_id is null or exists (select from api_token t
        where t.id = s3_key.api_token_id and t.archived_at is null
          and (t.expires_at is null or t.expires_at > clock_timestamp())))
      and (s3_key.purpose <> 'browser' or s3_key.session_id is null or exists (select from session s
        where s.id = s3_key.session_id and s.revoked_at is null and s.expires_at > clock_timestamp()))))
    and (s3_key.purpose <> 'task' or exists (select from task_run r join container c on c.id = r.container_id
      where (r.input_key_id = s3_key.id or r.output_key_id = s3_key.id) and r.ended_at is null
        and c.deleted_at is null and c.desired <> 'absent'))
  ))
)`;

/** The same as a condition of a query. */
export const keyWorks = (_: ExpressionBuilder<Database, 's3_key'>) => KEY_WORKS;

/** Those of these access keys that work now. */
export async function keysStillWorking(db: Db, accessKeyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('s3_key')
    .select('access_key_id')
    .where(sql<boolean>`access_key_id = any(${accessKeyIds}::text[])`)
    .where(KEY_WORKS)
    .execute();
  return new Set(rows.map((row) => row.access_key_id));
}

function newAccessKeyId(): string {
  let id = 'STG';
  while (id.length < ACCESS_KEY_ID_LENGTH) id += LETTERS[randomInt(LETTERS.length)];
  return id;
}

/** Access key ids are unique and never change, so that they name the row before it has a number. */
const placeOf = (accessKeyId: string): string => `s3_key|secret|${accessKeyId}`;
