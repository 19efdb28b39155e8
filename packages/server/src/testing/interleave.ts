import { CallError } from '@stagi/contract/errors.ts';
import pg from 'pg';
import { expect } from 'vitest';
import { isOverload } from '../http/errors.ts';

const WITHIN_MS = 60_000;
const TRIES = 5;

type Outcomes = [PromiseSettledResult<unknown>, PromiseSettledResult<unknown>];

/**
 * Runs two acts so that they overlap. The test locks an audit log (`chain`), so that `first` blocks when it writes its
 * entry, just before its commit. Then `second` starts and blocks on the same log, or on a lock that `first` holds; then
 * the log is released. Throws `Overloaded` if one of them was refused for load: wrap it in `retryOnOverload`.
 */
export async function interleave(
  { databaseUrl }: { databaseUrl: string },
  chain: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<Outcomes> {
  const log = new pg.Client({ connectionString: databaseUrl });
  await log.connect();
  await log.query('begin');
  await log.query('insert into audit_head (chain) values ($1) on conflict do nothing', [chain]);
  await log.query('select 1 from audit_head where chain = $1 for update', [chain]);
  let ended = 0;
  const outcomeOf = (act: () => Promise<unknown>): Promise<PromiseSettledResult<unknown>> =>
    Promise.allSettled([act().finally(() => (ended += 1))]).then(([end]) => end!);
  const untilBlocked = (least: number): Promise<void> =>
    expect
      .poll(async () => ended > 0 || (await countBlocked(log)) >= least, { timeout: WITHIN_MS, interval: 20 })
      .toBe(true);

  const one = outcomeOf(first);
  await untilBlocked(1);
  const two = outcomeOf(second);
  await untilBlocked(2);
  await log.query('commit');
  await log.end();
  const ends: Outcomes = [await one, await two];
  if (ends.some(isOverloaded)) throw new Overloaded('told to come again');
  return ends;
}

/** On a loaded machine an act may exceed the lock timeout: the whole scene is retried. */
export async function retryOnOverload(scene: () => Promise<void>): Promise<void> {
  for (let again = 1; ; again += 1)
    try {
      return await scene();
    } catch (error) {
      if (!(error instanceof Overloaded) || again === TRIES) throw error;
    }
}

class Overloaded extends Error {}

const isOverloaded = (end: PromiseSettledResult<unknown>): boolean =>
  end.status === 'rejected' && (end.reason instanceof CallError ? end.reason.status === 503 : isOverload(end.reason));

/** How many connections are blocked by this one, directly or indirectly. */
async function countBlocked(client: pg.Client): Promise<number> {
  // PostgreSQL reads its activity once per transaction; this discards that snapshot.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ n: number }>(
    `with recursive behind (pid) as (
       select pg_backend_pid()
       union select a.pid from pg_stat_activity a join behind b on b.pid = any(pg_blocking_pids(a.pid))
         where a.datname = current_database())
     select count(*)::int - 1 as n from behind`,
  );
  return rows[0]!.n;
}
