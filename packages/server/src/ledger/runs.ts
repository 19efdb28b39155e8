import type { LedgerRun } from '@stagi/contract/ledger.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { offsetOf, sortColumn } from '../http/paging.ts';
import { type Verdict, verifyLedger } from './verify.ts';

type Cause = LedgerRun['cause'];

/** A run that tells nothing for so long has died with its process; another may be asked for. */
const SILENT_FOR = sql`interval '2 minutes'`;

/** The run that goes on, or a new one with its job; asked for twice at a time it is one. */
export async function requestVerification(ctx: Pick<Context, 'jobs'>, trx: Db, askedBy: number): Promise<bigint> {
  await sql`select pg_advisory_xact_lock(hashtextextended('ledger.verify', 0))`.execute(trx);
  const going = await trx
    .selectFrom('ledger_run')
    .select('id')
    .where('state', 'in', ['waiting', 'running'])
    .where('touched_at', '>', sql<Date>`clock_timestamp() - ${SILENT_FOR}`)
    .executeTakeFirst();
  if (going) return going.id;
  const id = await createRun(trx, 'operator', askedBy);
  await ctx.jobs.enqueue(trx, 'ledger.verify', { runId: String(id) });
  return id;
}

export async function createRun(db: Db, cause: Cause, askedBy: number | null): Promise<bigint> {
  const { id } = await db
    .insertInto('ledger_run')
    .values({ cause, asked_by: askedBy })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Verifies the ledger for a run and stores the result. Null for a run that has ended already: it stays as it is. */
export async function runVerification({ db, log }: Pick<Context, 'db' | 'log'>, id: bigint): Promise<Verdict | null> {
  const open = () => db.updateTable('ledger_run').where('id', '=', id).where('ended_at', 'is', null);
  const begun = await open()
    .set({ state: 'running', touched_at: sql<Date>`clock_timestamp()` })
    .returning('id')
    .executeTakeFirst();
  if (!begun) return null;
  const progress = (verdict: Verdict) => ({
    journals: BigInt(verdict.journals),
    journals_to_do: BigInt(verdict.journalsToDo),
    touched_at: sql<Date>`clock_timestamp()`,
  });
  try {
    const verdict = await verifyLedger(db, async (now) => void (await open().set(progress(now)).execute()));
    const { counts, findings, problems } = verdict;
    await open()
      .set({
        ...progress(verdict),
        state: problems === 0 ? 'sound' : 'unsound',
        counts: JSON.stringify({ ...counts, problems }),
        findings: JSON.stringify(findings),
        ended_at: sql<Date>`clock_timestamp()`,
      })
      .execute();
    const told = { run: String(id), ...counts };
    if (problems > 0) log.error({ ...told, problems, first: findings[0] }, 'the ledger does not add up');
    else log.info(told, 'the ledger adds up');
    return verdict;
  } catch (error) {
    // Its job tries again, and may succeed then.
    await open()
      .set({
        state: 'failed',
        error: error instanceof Error ? error.name : 'unknown',
        touched_at: sql<Date>`clock_timestamp()`,
      })
      .execute();
    throw error;
  }
}

const runs = (db: Db) =>
  db
    .selectFrom('ledger_run as r')
    .leftJoin('app_user as u', 'u.id', 'r.asked_by')
    .selectAll('r')
    .select(['u.name', 'u.email']);

export async function viewRun(db: Db, id: bigint): Promise<LedgerRun> {
  const row = await runs(db).where('r.id', '=', id).executeTakeFirst();
  if (!row) throw notFound();
  return present(row);
}

export async function listRuns(db: Db, request: EntityFilterRequest) {
  sortColumn(request, { createdAt: 'id' });
  const asked = request.statuses ?? [];
  const chosen = asked.length > 0 ? sql<boolean>`state = any(${asked}::text[])` : sql<boolean>`true`;
  const [rows, { count }, last] = await Promise.all([
    runs(db)
      .where(chosen)
      .orderBy('r.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    db.selectFrom('ledger_run').select(sql<number>`count(*)::int`.as('count')).where(chosen).executeTakeFirstOrThrow(),
    db
      .selectFrom('ledger_run')
      .select('state')
      .where('state', 'in', ['sound', 'unsound'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst(),
  ]);
  return { entities: rows.map(present), count, lastIsSound: last ? last.state === 'sound' : null };
}

const SEALS_SHOWN = 10;

export async function lastSeals(db: Db) {
  const { rows } = await sql<{ day: string; journals: bigint; hash: Buffer; at: Date }>`
    select day::text, journals, hash, sealed_at as at from ledger_seal order by ledger_seal.day desc limit ${SEALS_SHOWN}`.execute(
    db,
  );
  return rows.map(({ day, journals, hash, at }) => ({
    day,
    journals: Number(journals),
    hash: hash.toString('hex'),
    sealedAt: at.toISOString(),
  }));
}

type Row = Awaited<ReturnType<ReturnType<typeof runs>['execute']>>[number];

function present(row: Row): LedgerRun {
  return {
    id: Number(row.id),
    state: row.state,
    cause: row.cause,
    askedBy: row.asked_by === null ? null : { userId: row.asked_by, name: row.name ?? '', email: row.email ?? '' },
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    touchedAt: row.touched_at.toISOString(),
    journals: Number(row.journals),
    journalsToDo: Number(row.journals_to_do),
    counts: row.counts,
    findings: row.findings,
    error: row.error,
  };
}
