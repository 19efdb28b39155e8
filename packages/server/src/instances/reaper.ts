import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** More than this at once points to a bug: the rest waits for the next pass, and the log shows it. */
const MAX_PER_PASS = 10;

/**
 * A safety net: wakes servers that no worker would look at again, with an operation open for 5 minutes or a transition
 * of more than 30. This should never happen and is logged as an error. Returns the ids of the woken servers.
 */
export async function wakeStuckServers(ctx: Pick<Context, 'db' | 'log'>): Promise<number[]> {
  const woken: number[] = [];
  const { rows } = await sql<{ id: number }>`
    select id from instance where ${STUCK} order by status_since limit ${MAX_PER_PASS}`.execute(ctx.db);
  for (const { id } of rows) {
    const row = await inTransaction(ctx.db, (trx) => wakeIfStuck(trx, id));
    if (!row) continue;
    ctx.log.error({ instanceId: id, ...row }, 'a server was forgotten: it is looked at again');
    woken.push(id);
  }
  return woken;
}

/** No backoff and no poll interval is longer than this. */
const LONGEST_RETRY_PAUSE = sql`interval '10 minutes'`;

const STUCK = sql<boolean>`kind = 'rented' and closed_at is null
  and lock_expires_at is null and (next_at is null or next_at > now() + ${LONGEST_RETRY_PAUSE})
  and (
    exists (select 1 from provider_op where instance_id = instance.id and state = 'intent'
      and created_at < now() - interval '5 minutes')
    or (provider_ref is not null and status_since < now() - interval '5 minutes')
    or (status not in ('creation failed', 'stopped') and status_since < now() - interval '30 minutes')
  )`;

/** Repeats the condition under the row's lock: a worker may have taken it meanwhile. */
async function wakeIfStuck(trx: Db, id: number): Promise<{ status: string; since: Date } | null> {
  const { rows } = await sql<{ status: string; since: Date }>`
    update instance set next_at = now()
    where id = (select id from instance where id = ${id} and ${STUCK} for no key update)
    returning status, status_since as since`.execute(trx);
  if (rows[0]) await announce(trx, 'due', { kind: 'instance' });
  return rows[0] ?? null;
}
