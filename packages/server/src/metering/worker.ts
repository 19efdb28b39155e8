import { sql } from 'kysely';
import { balanceOf } from '../billing/burnRate.ts';
import {
  meterWorkspace,
  SEGMENT_COST,
  SEGMENT_METERED_UNTIL,
  SEGMENT_REFUND_PENDING,
  type Tick,
} from '../billing/meterWorkspace.ts';
import { creditedAtZeroBalance, resumeAll } from '../billing/zero.ts';
import { announceAll } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { enforceZeroBalances } from './zeroBalance.ts';
import { sendZeroNotices } from './zeroNotices.ts';

/** How often balances are checked. */
const CHECK_MS = 5_000;
/** Limits the connections that metering takes from the pool. */
const MAX_CONCURRENT_WORKSPACES = 4;

type Ctx = Pick<Context, 'config' | 'db' | 'jobs' | 'log' | 'providers' | 'secrets'>;

/**
 * Meters running servers every minute and reacts to balances that run out. Any number of these workers may run on one
 * database. The two loops are separate, so that stopping thousands of servers does not delay metering.
 */
export function startMeteringWorker(ctx: Context): { stop(): Promise<void> } {
  const { meteringMs } = ctx.config;
  const checkMs = Math.min(CHECK_MS, meteringMs);
  const balanceLoop = repeatEvery(ctx, checkMs, 'following balances', () => reactToBalances(ctx));
  const meteringLoop = repeatEvery(ctx, checkMs, 'metering', async () => {
    await meterDueWorkspaces(ctx, meteringMs, balanceLoop.now);
  });
  return {
    async stop() {
      await meteringLoop.stop();
      await balanceLoop.stop();
    },
  };
}

/** Resumes servers after a credit, stops servers without a balance, and sends notices. */
export async function reactToBalances(ctx: Ctx): Promise<void> {
  for (const id of await creditedAtZeroBalance(ctx.db)) await logErrors(ctx, id, () => resumeAll(ctx.db, id));
  await enforceZeroBalances(ctx);
  await sendZeroNotices(ctx);
}

/**
 * Meters the workspaces that are due: a minute has passed, or the balance does not cover the rest of it, or use that ended at
 * zero is to be settled before a credit could pay for it. A failing workspace delays no other. `onExhausted` is called for
 * each balance that has just run out.
 */
export async function meterDueWorkspaces(
  ctx: Pick<Ctx, 'db' | 'log'>,
  meterMs: number,
  onExhausted = () => {},
): Promise<Tick[]> {
  const turns = limitConcurrency(MAX_CONCURRENT_WORKSPACES);
  const ticks: Tick[] = [];
  const changed: number[] = [];
  const readOnly: number[] = [];
  const due = await dueWorkspaces(ctx.db, meterMs);
  await Promise.all(
    due.map(({ id, seen }) =>
      turns(() =>
        logErrors(ctx, id, async () => {
          const tick = await meterWorkspace(ctx.db, id, seen);
          if (!tick) return;
          ticks.push(tick);
          if (tick.exhausted === 'now') {
            ctx.log.info({ workspaceId: id }, 'the balance of a workspace is used up');
            readOnly.push(id);
            onExhausted();
          }
          if (tick.charged > 0n || tick.refunded > 0n || tick.exhausted === 'now') changed.push(id);
        }),
      ),
    ),
  );
  // In one statement: commits with notifications wait for each other.
  const hints = [
    ...changed.map((workspaceId) => ({ entity: 'balance' as const, id: null, workspaceId })),
    ...readOnly.map((workspaceId) => ({ entity: 'storage' as const, id: null, workspaceId })),
  ];
  if (hints.length > 0) await announceAll(ctx.db, 'changed', hints);
  return ticks;
}

async function logErrors(ctx: Pick<Ctx, 'log'>, workspaceId: number, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    ctx.log.error({ err: error, workspaceId }, 'the metering of a workspace failed; it is tried again');
  }
}

/** `seen`: when it was last metered, to detect a tick of another worker meanwhile. */
async function dueWorkspaces(db: Db, meterMs: number): Promise<{ id: number; seen: string }[]> {
  const { rows } = await sql<{ id: number; seen: string }>`
    with t as materialized (select metering_clock() as now),
    use as (
      select s.client_id, sum(${SEGMENT_COST} - (s.charged + s.uncollected - s.refunded - s.forgiven)) as accrued,
        sum(s.reserve) filter (where s.ended_at is null) as reserve, bool_or(s.ended_at is not null) as has_ended
      from t, segment s, lateral (select ${SEGMENT_METERED_UNTIL} as until) u
      where not s.settled and not ${SEGMENT_REFUND_PENDING} group by s.client_id
    )
    select m.client_id as id, m.metered_at::text as seen
    from t, use join workspace_meter m on m.client_id = use.client_id join workspace w on w.id = use.client_id
    where m.metered_at <= t.now - ${`${meterMs} milliseconds`}::interval
      -- The clock was set back: do not wait until it reaches the last tick again.
      or m.metered_at > t.now + ${`${meterMs} milliseconds`}::interval
      or (w.exhausted_at is not null and use.has_ended)
      or (w.exhausted_at is null and use.accrued > 0
        and use.accrued >= ${sql.raw(balanceOf('m.client_id'))} - coalesce(use.reserve, 0))
    order by m.metered_at`.execute(db);
  return rows;
}
