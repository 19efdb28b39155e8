import { sql } from 'kysely';
import { announceAll } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { every } from '../every.ts';
import { followZeroBalances } from '../instances/zeroBalance.ts';
import { takeTurns } from '../turns.ts';
import { meterWorkspace, OWED, type Tick, UNDECIDED, UNTIL } from './meter.ts';
import { balanceOf } from './spending.ts';
import { creditedAtZero, resumeAll } from './zero.ts';
import { sendZeroNotices } from './zeroNotices.ts';

/** How often it is looked whether a balance has run out. */
const CHECK_MS = 5_000;
/** Workspaces that one process meters at once: the pool is for others too. */
const AT_ONCE = 4;

type Ctx = Pick<Context, 'config' | 'db' | 'jobs' | 'log' | 'providers' | 'secrets'>;

/**
 * Meters what runs, every minute, and follows balances that run out. Any number of these may run on one database. Whoever
 * has thousands of servers to stop keeps nobody's balance from being looked at.
 */
export function startMetering(ctx: Context): { stop(): Promise<void> } {
  const { meteringMs } = ctx.config;
  const checkMs = Math.min(CHECK_MS, meteringMs);
  const following = every(ctx, checkMs, 'following balances', () => followBalances(ctx));
  const metering = every(ctx, checkMs, 'metering', async () => {
    await meterDue(ctx, meteringMs, following.now);
  });
  return {
    async stop() {
      await metering.stop();
      await following.stop();
    },
  };
}

/** Starts again what a credit pays for, stops what nothing pays for any more, and tells of it. */
export async function followBalances(ctx: Ctx): Promise<void> {
  for (const id of await creditedAtZero(ctx.db)) await apart(ctx, id, () => resumeAll(ctx.db, id));
  await followZeroBalances(ctx);
  await sendZeroNotices(ctx);
}

/**
 * Meters the workspaces whose minute is over, or whose balance does not reach to its end; and settles at once what zero
 * has ended, so that a later credit does not pay for it. One that fails delays no other. `onExhausted`: of each balance that
 * has just run out.
 */
export async function meterDue(ctx: Pick<Ctx, 'db' | 'log'>, meterMs: number, onExhausted = () => {}): Promise<Tick[]> {
  const turns = takeTurns(AT_ONCE);
  const ticks: Tick[] = [];
  const changed: number[] = [];
  const due = await dueWorkspaces(ctx.db, meterMs);
  await Promise.all(
    due.map(({ id, seen }) =>
      turns(() =>
        apart(ctx, id, async () => {
          const tick = await meterWorkspace(ctx.db, id, seen);
          if (!tick) return;
          ticks.push(tick);
          if (tick.exhausted === 'now') {
            ctx.log.info({ workspaceId: id }, 'the balance of a workspace is used up');
            onExhausted();
          }
          if (tick.charged > 0n || tick.refunded > 0n || tick.exhausted === 'now') changed.push(id);
        }),
      ),
    ),
  );
  // Told together: each telling would keep every other commit waiting.
  const hints = changed.map((workspaceId) => ({ entity: 'balance' as const, id: null, workspaceId }));
  if (hints.length > 0) await announceAll(ctx.db, 'changed', hints);
  return ticks;
}

async function apart(ctx: Pick<Ctx, 'log'>, workspaceId: number, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    ctx.log.error({ err: error, workspaceId }, 'the metering of a workspace failed; it is tried again');
  }
}

/** `seen`: when it was metered last, by which a tick of somebody else meanwhile is noticed. */
async function dueWorkspaces(db: Db, meterMs: number): Promise<{ id: number; seen: string }[]> {
  const { rows } = await sql<{ id: number; seen: string }>`
    with t as materialized (select metering_clock() as now),
    use as (
      select s.client_id, sum(${OWED} - (s.charged + s.uncollected - s.refunded - s.forgiven)) as accrued,
        sum(s.reserve) filter (where s.ended_at is null) as reserve, bool_or(s.ended_at is not null) as has_ended
      from t, segment s, lateral (select ${UNTIL} as until) u
      where not s.settled and not ${UNDECIDED} group by s.client_id
    )
    select m.client_id as id, m.metered_at::text as seen
    from t, use join workspace_meter m on m.client_id = use.client_id join workspace w on w.id = use.client_id
    where m.metered_at <= t.now - ${`${meterMs} milliseconds`}::interval
      -- The clock has gone back since: nothing waits until it is there again.
      or m.metered_at > t.now + ${`${meterMs} milliseconds`}::interval
      or (w.exhausted_at is not null and use.has_ended)
      or (w.exhausted_at is null and use.accrued > 0
        and use.accrued >= ${sql.raw(balanceOf('m.client_id'))} - coalesce(use.reserve, 0))
    order by m.metered_at`.execute(db);
  return rows;
}
