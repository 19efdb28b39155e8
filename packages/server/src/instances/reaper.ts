import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** More at once than this is no accident: the rest waits for the next pass, and for whoever reads the log. */
const AT_ONCE = 10;

/**
 * Wakes servers that nobody would look at again: an operation silent for 5 minutes, a transition of more than 30. Nothing
 * of ours should lead there; what does is logged. Answers whom it woke.
 */
export async function reap(ctx: Pick<Context, 'db' | 'log'>): Promise<number[]> {
  const woken: number[] = [];
  const { rows } = await sql<{ id: number }>`
    select id from instance where ${FORGOTTEN} order by status_since limit ${AT_ONCE}`.execute(ctx.db);
  for (const { id } of rows) {
    const row = await inTransaction(ctx.db, (trx) => wake(trx, id));
    if (!row) continue;
    ctx.log.error({ instanceId: id, ...row }, 'a server was forgotten: it is looked at again');
    woken.push(id);
  }
  return woken;
}

/** No back-off and no watch is longer than this. */
const LONGEST_PAUSE = sql`interval '10 minutes'`;

const FORGOTTEN = sql<boolean>`kind = 'rented' and closed_at is null
  and lock_expires_at is null and (next_at is null or next_at > now() + ${LONGEST_PAUSE})
  and (
    exists (select 1 from provider_op where instance_id = instance.id and state = 'intent'
      and created_at < now() - interval '5 minutes')
    or (provider_ref is not null and status_since < now() - interval '5 minutes')
    or (status not in ('creation failed', 'stopped') and status_since < now() - interval '30 minutes')
  )`;

/** Again under its lock: somebody may have remembered it meanwhile. */
async function wake(trx: Db, id: number): Promise<{ status: string; since: Date } | null> {
  const { rows } = await sql<{ status: string; since: Date }>`
    update instance set next_at = now()
    where id = (select id from instance where id = ${id} and ${FORGOTTEN} for no key update)
    returning status, status_since as since`.execute(trx);
  if (rows[0]) await announce(trx, 'due', { kind: 'instance' });
  return rows[0] ?? null;
}
