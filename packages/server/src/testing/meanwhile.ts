import { CallError } from '@stagi/contract/errors.ts';
import pg from 'pg';
import { expect } from 'vitest';
import { isOverload } from '../http/errors.ts';

const WITHIN_MS = 20_000;
const TRIES = 5;

type Ends = [PromiseSettledResult<unknown>, PromiseSettledResult<unknown>];

/**
 * Has one act begin, and another one when the first has done all but write itself into an audit log, which is held until
 * then. The second waits for the log as well, or for something that the first holds. Throws `TooLate` where one of them
 * was told to come again: use it within `inTime`.
 */
export async function atOnce(
  { databaseUrl }: { databaseUrl: string },
  chain: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<Ends> {
  const log = new pg.Client({ connectionString: databaseUrl });
  await log.connect();
  await log.query('begin');
  await log.query('insert into audit_head (chain) values ($1) on conflict do nothing', [chain]);
  await log.query('select 1 from audit_head where chain = $1 for update', [chain]);
  let over = 0;
  const follow = (act: () => Promise<unknown>): Promise<PromiseSettledResult<unknown>> =>
    Promise.allSettled([act().finally(() => (over += 1))]).then(([end]) => end!);
  const waiting = (least: number): Promise<void> =>
    expect
      .poll(async () => over > 0 || (await waitingFor(log)) >= least, { timeout: WITHIN_MS, interval: 20 })
      .toBe(true);

  const one = follow(first);
  await waiting(1);
  const two = follow(second);
  await waiting(2);
  await log.query('commit');
  await log.end();
  const ends: Ends = [await one, await two];
  if (ends.some(isLate)) throw new TooLate('told to come again');
  return ends;
}

/** A machine that does ten other things may keep an act from its lock for longer than a lock is waited for. */
export async function inTime(scene: () => Promise<void>): Promise<void> {
  for (let again = 1; ; again += 1)
    try {
      return await scene();
    } catch (error) {
      if (!(error instanceof TooLate) || again === TRIES) throw error;
    }
}

class TooLate extends Error {}

const isLate = (end: PromiseSettledResult<unknown>): boolean =>
  end.status === 'rejected' && (end.reason instanceof CallError ? end.reason.status === 503 : isOverload(end.reason));

/** How many wait for what this connection holds, or for somebody who does. */
async function waitingFor(client: pg.Client): Promise<number> {
  // Who is there is looked up once a transaction.
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
