import { AUDIT_FINDINGS_MAX, type AuditCheck } from '@stagi/contract/audit.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { offsetOf, sortColumn } from '../http/paging.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import { countChainsAfter, verifyAllChains } from './verifyAllChains.ts';
import { PLATFORM_CHAIN } from './verifyChain.ts';

/** A part takes seconds: a check without progress for this long has died with its process. */
const STALLED_AFTER = sql`interval '2 minutes'`;

/** Returns the running check, or creates one with its job. Two requests at once get the same one. */
export async function requestCheck(ctx: Pick<Context, 'jobs'>, trx: Db, askedBy: number): Promise<number> {
  const made = await createCheck(trx, 'operator', askedBy);
  if (made !== null) {
    await ctx.jobs.enqueue(trx, 'audit.check', { checkId: made });
    return made;
  }
  // The running check may have ended since the first statement, but it is still the newest.
  const { id } = await trx.selectFrom('audit_check').select('id').orderBy('id', 'desc').executeTakeFirstOrThrow();
  return id;
}

/** Null if one is running. */
async function createCheck(db: Db, cause: AuditCheck['cause'], askedBy: number | null): Promise<number | null> {
  await db
    .updateTable('audit_check')
    .set({ ended_at: sql<Date>`deadline_at` })
    .where('ended_at', 'is', null)
    .where('deadline_at', '<=', sql<Date>`clock_timestamp()`)
    .execute();
  const made = await db
    .insertInto('audit_check')
    .values({ cause, asked_by: askedBy, deadline_at: sql<Date>`clock_timestamp() + ${STALLED_AFTER}` })
    .onConflict((conflict) => conflict.expression(sql`(true)`).where('ended_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  return made?.id ?? null;
}

/** Once a night, and whenever an operator asks. */
export async function startAuditCheckWorker(ctx: Pick<Context, 'db' | 'log'>, queue: RunningQueue): Promise<void> {
  await queue.work('audit.check', async (data) => {
    const { checkId } = (data as { checkId?: number } | null) ?? {};
    const id = checkId ?? (await createCheck(ctx.db, 'cron', null));
    if (id !== null) await runCheck(ctx, id);
  });
  await queue.every('audit.check', '47 2 * * *');
}

/** Resumes where another worker died. Does nothing for a check that has ended or passed its deadline. */
export async function runCheck({ db, log }: Pick<Context, 'db' | 'log'>, id: number): Promise<void> {
  const open = () =>
    db
      .updateTable('audit_check')
      .where('id', '=', id)
      .where('ended_at', 'is', null)
      .where('deadline_at', '>', sql<Date>`clock_timestamp()`)
      .set({ deadline_at: sql<Date>`clock_timestamp() + ${STALLED_AFTER}` });
  const begun = await open()
    .set({ started_at: sql<Date>`coalesce(started_at, clock_timestamp())` })
    .returning(['behind_chain', 'chains', 'entries', 'findings'])
    .executeTakeFirst();
  if (!begun) return;
  const left = await countChainsAfter(db, begun.behind_chain);
  await open()
    .set({ chains_to_do: begun.chains + left.chains, entries_to_do: begun.entries + BigInt(left.entries) })
    .execute();
  let { findings } = begun;
  for await (const { behind, chains, entries, broken } of verifyAllChains(db, begun.behind_chain)) {
    for (const { chain, entry } of broken) log.error({ check: id, chain, entry }, 'an audit log is broken');
    findings = [...findings, ...broken].slice(0, AUDIT_FINDINGS_MAX);
    const { numUpdatedRows } = await open()
      .set({
        behind_chain: behind,
        chains: sql<number>`chains + ${chains}`,
        entries: sql<bigint>`entries + ${entries}`,
        broken_chains: sql<number>`broken_chains + ${broken.length}`,
        findings: JSON.stringify(findings),
      })
      .executeTakeFirst();
    // Past its deadline: another check may have been created meanwhile.
    if (numUpdatedRows === 0n) return;
  }
  await open().set({ ended_at: sql<Date>`clock_timestamp()` }).execute();
}

export async function viewCheck(db: Db, id: number): Promise<AuditCheck> {
  const [check] = await present(db, await checks(db).where('c.id', '=', id).execute());
  if (!check) throw notFound();
  return check;
}

export async function listChecks(db: Db, request: EntityFilterRequest) {
  sortColumn(request, { createdAt: 'id' });
  const asked = request.statuses ?? [];
  const chosen = asked.length > 0 ? sql<boolean>`${STATUS} = any(${asked}::text[])` : sql<boolean>`true`;
  const [rows, { count }] = await Promise.all([
    checks(db)
      .where(chosen)
      .orderBy('c.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    db
      .selectFrom('audit_check as c')
      .select(sql<number>`count(*)::int`.as('count'))
      .where(chosen)
      .executeTakeFirstOrThrow(),
  ]);
  // After the rows: a check that they show as ended must not be missing here, since nobody asks again soon.
  const last = await db
    .selectFrom('audit_check as c')
    .select(STATUS.as('status'))
    .where(STATUS, 'in', ['whole', 'broken'])
    .orderBy('c.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { entities: await present(db, rows), count, lastIsWhole: last ? last.status === 'whole' : null };
}

/** A check past its deadline is `failed`: it will not be resumed. */
const STATUS = sql<AuditCheck['status']>`case
  when c.ended_at is null and c.deadline_at > clock_timestamp()
    then case when c.started_at is null then 'in queue' else 'running' end
  when c.broken_chains > 0 then 'broken'
  when c.ended_at is null or c.ended_at = c.deadline_at then 'failed'
  else 'whole' end`;

const checks = (db: Db) =>
  db
    .selectFrom('audit_check as c')
    .leftJoin('app_user as u', 'u.id', 'c.asked_by')
    .selectAll('c')
    .select(['u.name', 'u.email', STATUS.as('status')]);

type Row = Awaited<ReturnType<ReturnType<typeof checks>['execute']>>[number];

async function present(db: Db, rows: readonly Row[]): Promise<AuditCheck[]> {
  const named = rows.flatMap(({ findings }) => findings.map(({ chain }) => chain));
  const workspaces = await db
    .selectFrom('workspace')
    .select(['id', 'name'])
    .where('id', '=', sql<number>`any(${[...new Set(named)]}::int[])`)
    .execute();
  const workspaceOf = new Map(workspaces.map((workspace) => [workspace.id, workspace]));
  return rows.map((row) => ({
    id: row.id,
    status: row.status,
    cause: row.cause,
    askedBy: row.asked_by === null ? null : { userId: row.asked_by, name: row.name ?? '', email: row.email ?? '' },
    createdAt: row.created_at.toISOString(),
    deadline: row.deadline_at.toISOString(),
    endedAt: (row.ended_at ?? (row.status === 'failed' ? row.deadline_at : null))?.toISOString() ?? null,
    logs: row.chains,
    logsToDo: row.chains_to_do,
    entries: Number(row.entries),
    entriesToDo: Number(row.entries_to_do),
    brokenLogs: row.broken_chains,
    findings: row.findings.map(({ chain, entry }) => ({
      // A chain without a workspace has only its number.
      workspace: chain === PLATFORM_CHAIN ? null : (workspaceOf.get(chain) ?? { id: chain, name: `#${chain}` }),
      entry,
    })),
  }));
}
