import type { ProviderCheck } from '@stagi/contract/providers.ts';
import { sql } from 'kysely';
import { type Actor, recordAct } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, ProviderCheckRow } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';

/** Adapters time out after 30 seconds; the check asks for the state first, then for the rest in parallel. */
const DEADLINE_SECONDS = 50;
const TIMED_OUT = 'No response in time';

type Step = ProviderCheck['steps'][number];
type Operator = Context & Actor & { user: { id: number } };

/** Queues a check of a cloud and records it in the audit log, or returns the check that is under way. */
export async function requestProviderCheck(ctx: Operator, provider: string): Promise<ProviderCheck> {
  if (!ctx.providers.has(provider)) throw notFound();
  return inTransaction(ctx.db, async (trx) => {
    await expireOverdueChecks(trx, provider);
    const created = await trx
      .insertInto('provider_check')
      .values({
        provider,
        asked_by: ctx.user.id,
        deadline_at: sql<Date>`now() + ${`${DEADLINE_SECONDS} seconds`}::interval`,
      })
      .onConflict((conflict) => conflict.column('provider').where('ended_at', 'is', null).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (created) {
      await ctx.jobs.enqueue(trx, 'provider.check', { checkId: created.id });
      const object = { type: 'provider', id: null, label: provider };
      await recordAct(trx, { ...ctx, workspace: null }, { action: 'admin/provider/check', outcome: 'done', object });
    }
    const check = (await newestChecks(trx, [provider])).get(provider);
    // The one under way may have ended between the two statements; it is still the newest.
    if (!check) throw notFound();
    return check;
  });
}

/** The newest check of each cloud. */
export async function newestChecks(db: Db, providers: readonly string[]): Promise<Map<string, ProviderCheck>> {
  const rows = await db
    .selectFrom('provider_check')
    .innerJoin('app_user', 'app_user.id', 'provider_check.asked_by')
    .distinctOn('provider')
    .selectAll('provider_check')
    .select(['app_user.name', sql<boolean>`deadline_at <= now()`.as('is_late')])
    .where('provider', 'in', providers)
    .orderBy('provider')
    .orderBy('provider_check.id', 'desc')
    .execute();
  return new Map(rows.map((row) => [row.provider, presentCheck(row)]));
}

/** Runs queued checks. A job may run twice after a crash, as a check changes nothing at the cloud. */
export async function startProviderCheckWorker(ctx: Context, queue: RunningQueue): Promise<void> {
  await queue.work('provider.check', ({ checkId }) => runProviderCheck(ctx, checkId));
}

export async function runProviderCheck(ctx: Pick<Context, 'db' | 'providers' | 'log'>, id: number): Promise<void> {
  const check = await ctx.db
    .updateTable('provider_check')
    .set({ started_at: sql<Date>`now()`, steps: '[]' })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where('deadline_at', '>', sql<Date>`now()`)
    .returning(['provider', sql<number>`extract(epoch from deadline_at - now())::float8 * 1000`.as('left_ms')])
    .executeTakeFirst();
  const provider = check && ctx.providers.get(check.provider);
  if (!provider) return;
  const deadline = AbortSignal.timeout(Math.max(1, Math.floor(check.left_ms)));
  for await (const step of checkSteps(provider, deadline)) {
    if (!step.isDone) ctx.log.warn({ provider: provider.name, step }, 'a cloud did not pass a check');
    await ctx.db
      .updateTable('provider_check')
      .set({ steps: sql`steps || ${JSON.stringify([step])}::jsonb` })
      .where('id', '=', id)
      .where('ended_at', 'is', null)
      .execute();
  }
  await ctx.db
    .updateTable('provider_check')
    .set({ ended_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/** The state first: a cloud that is not ready cannot answer the rest. */
async function* checkSteps(provider: Provider, deadline: AbortSignal): AsyncGenerator<Step> {
  const readiness = await timed('readiness', deadline, async () => {
    const found = await provider.readiness();
    if (found.state === 'unavailable') throw new ProviderError('permanent', found.reason);
    return { count: null, message: found.state === 'preparing' ? found.step : null };
  });
  yield readiness;
  if (!readiness.isDone) return;
  yield* await Promise.all([
    timed('offers', deadline, async () => ({ count: (await provider.offers()).length, message: null })),
    timed('machines', deadline, async () => ({ count: (await provider.list()).length, message: null })),
  ]);
}

async function timed(
  step: Step['step'],
  deadline: AbortSignal,
  ask: () => Promise<Pick<Step, 'count' | 'message'>>,
): Promise<Step> {
  const since = performance.now();
  const outcome = await Promise.race([
    ask().then(
      (found) => ({ isDone: true, ...found }),
      (error: unknown) => {
        if (!(error instanceof ProviderError)) throw error;
        return { isDone: false, count: null, message: error.message };
      },
    ),
    aborted(deadline).then(() => ({ isDone: false, count: null, message: TIMED_OUT })),
  ]);
  return { step, milliseconds: Math.round(performance.now() - since), ...outcome };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Ends checks that passed their deadline because their worker died. */
async function expireOverdueChecks(trx: Db, provider: string): Promise<void> {
  await trx
    .updateTable('provider_check')
    .set({ ended_at: sql<Date>`deadline_at` })
    .where('provider', '=', provider)
    .where('ended_at', 'is', null)
    .where('deadline_at', '<=', sql<Date>`now()`)
    .execute();
}

function presentCheck(row: ProviderCheckRow & { name: string; is_late: boolean }): ProviderCheck {
  const ended = row.ended_at ?? (row.is_late ? row.deadline_at : null);
  return {
    id: row.id,
    provider: row.provider,
    status: statusOf(row, ended !== null),
    askedBy: row.name,
    askedAt: row.asked_at.toISOString(),
    deadline: row.deadline_at.toISOString(),
    endedAt: ended?.toISOString() ?? null,
    steps: row.steps,
  };
}

function statusOf({ started_at, steps }: ProviderCheckRow, hasEnded: boolean): ProviderCheck['status'] {
  if (!hasEnded) return started_at ? 'running' : 'in queue';
  return steps.length === 3 && steps.every(({ isDone }) => isDone) ? 'done' : 'failed';
}
