import { createHash } from 'node:crypto';
import { text } from '@stagi/contract/text.ts';
import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { conflict, invalid, PublicError } from '../http/errors.ts';

type Caller = Context & { user: { id: number }; workspace?: { id: number } };

/** The request's Idempotency-Key; throws 400 without one. */
export function requireIdempotencyKey(request: FastifyRequest): string {
  const key = request.headers['idempotency-key'];
  if (typeof key === 'string' && /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw invalid(text('This call needs an Idempotency-Key header of 1 to 200 visible characters'), 'Idempotency-Key');
}

/**
 * Runs a call at most once per Idempotency-Key: claim, effect and stored answer are one transaction. A retry with the
 * same key gets the same answer; with another body 422; while the first runs 409. `prepare` runs before the transaction,
 * unless there is an answer already.
 */
export async function runIdempotently(
  ctx: Caller,
  route: string,
  request: FastifyRequest,
  run: (db: Db) => Promise<unknown>,
  prepare: (() => Promise<void>) | null = null,
): Promise<unknown> {
  const key = requireIdempotencyKey(request);
  const owner = { workspace_id: ctx.workspace?.id ?? 0, user_id: ctx.user.id, route, key };
  const place = `idempotency|${owner.workspace_id}|${owner.user_id}|${route}|${key}`;
  const requestHash = createHash('sha256')
    .update(JSON.stringify(request.body ?? null))
    .digest();

  if (prepare) {
    const before = await find(ctx.db);
    if (before) return replay(before);
    await prepare();
  }
  try {
    return await ctx.db.transaction().execute(async (trx) => {
      const claim = await sql<{
        claimed: boolean;
      }>`select pg_try_advisory_xact_lock(hashtextextended(${place}, 0)) as claimed`.execute(trx);
      if (!claim.rows[0]?.claimed) throw conflict(text('The same request is already in progress'));
      const before = await find(trx);
      if (before) return replay(before);
      const body = await run(trx);
      await save(trx, 200, body);
      return body;
    });
  } catch (error) {
    // A refusal is stored and repeated for the same key; a failure may be retried with it.
    if (error instanceof PublicError && isFinalRefusal(error)) await save(ctx.db, error.status, error.body, 'keep');
    throw error;
  }

  function find(db: Db) {
    return db
      .selectFrom('idempotency')
      .select(['request_hash', 'status', 'body_sealed'])
      .where('user_id', '=', owner.user_id)
      .where('workspace_id', '=', owner.workspace_id)
      .where('route', '=', route)
      .where('key', '=', key)
      .executeTakeFirst();
  }

  function replay(row: { request_hash: Buffer; status: number; body_sealed: string }): unknown {
    if (!row.request_hash.equals(requestHash))
      throw new PublicError(422, text('This Idempotency-Key was used for another request'));
    const body: unknown = JSON.parse(ctx.secrets.open(row.body_sealed, place));
    const refusal = body as PublicError['body'];
    if (refusal.isSuccess === false) {
      const { fieldsWithError, fieldMessages, template, values, message } = refusal;
      throw new Replayed(row.status, template ?? message, { fieldsWithError, fieldMessages, values });
    }
    return body;
  }

  async function save(db: Db, status: number, body: unknown, onConflict?: 'keep'): Promise<void> {
    const row = {
      ...owner,
      key,
      request_hash: requestHash,
      status,
      body_sealed: ctx.secrets.seal(JSON.stringify(body), place),
    };
    const insert = db.insertInto('idempotency').values(row);
    await (onConflict === 'keep' ? insert.onConflict((conflicting) => conflicting.doNothing()) : insert).execute();
  }
}

/** A stored refusal that is repeated: not stored again. */
class Replayed extends PublicError {}

function isFinalRefusal(error: PublicError): boolean {
  return !(error instanceof Replayed) && (error.status === 200 || error.status === 400);
}
