import { ZERO_BALANCE } from '@stagi/server/src/billing/zero.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import { verifyLedger } from '@stagi/server/src/ledger/verify.ts';
import { meterDueWorkspaces } from '@stagi/server/src/metering/worker.ts';
import { mailsTo } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { type Opening, owedUntil, usedUpAt } from './arithmetic.ts';
import { intervalsOf } from './burn.ts';
import type { Customer, Stage } from './stage.ts';
import { leastHeld } from './watch.ts';

export interface Audit {
  stopped: number;
  terminated: number;
  /** From the moment at which a balance was used up until that was stored, for each workspace. */
  noticedMs: number[];
  /** From that moment until the stop was accepted and the interval ended, for each server. */
  closedMs: number[];
  /** From that moment until the platform saw it stopped or gone at its cloud. */
  offMs: number[];
  least: bigint;
  balanceChanges: bigint;
  /** The remaining balances where all servers can be stopped. */
  left: bigint[];
  /** The remaining balances where some cannot, with the reserve. */
  leftOfReserve: { left: bigint; reserve: bigint }[];
  uncollected: bigint;
  writtenOff: bigint;
  /** Micro-units charged for running servers after everything was over. */
  chargedLate: bigint;
  journals: number;
  problems: string[];
}

const silent = { info() {}, warn() {}, error: console.error } as never;

/** Compares the balances and charges of all workspaces with starts, ends and prices, once nothing runs any more. */
export async function audit(stage: Stage, openings: ReadonlyMap<Customer, Opening>): Promise<Audit> {
  const { db } = stage;
  const before = await costOfRunning(db);
  // Two ticks, as if a minute had passed each time: open intervals are charged again.
  for (let n = 0; n < 2; n += 1) await meterDueWorkspaces({ db, log: silent }, 0);
  const found: Audit = {
    ...(await countEnds(db)),
    ...(await leastHeld(db)),
    ...(await writeOffs(db)),
    noticedMs: [],
    closedMs: [],
    offMs: [],
    left: [],
    leftOfReserve: [],
    chargedLate: (await costOfRunning(db)) - before,
    journals: 0,
    problems: [],
  };
  for (const [customer, opening] of openings) await auditOne(stage, customer, opening, found);
  const { journals, findings } = await verifyLedger(db);
  found.journals = journals;
  found.problems.push(...findings.map(({ about, id, problem }) => `${about} ${id}: ${problem}`));
  const machines = (await Promise.all(stage.clouds.map((cloud) => cloud.control.report()))).flatMap(
    (report) => report.machines,
  );
  const awake = machines.filter(({ state }) => state !== 'stopped' && state !== 'gone').length;
  if (awake > 0) found.problems.push(`${awake} machines run on at their clouds`);
  return found;
}

async function auditOne({ db, url }: Stage, customer: Customer, opening: Opening, found: Audit): Promise<void> {
  const { workspaceId, fixed, stoppable, isCredited } = customer;
  const { problems } = found;
  const { intervals } = await intervalsOf(db, workspaceId);
  const usedUp = usedUpAt(intervals, opening);
  if (usedUp === null) {
    problems.push(`the balance of workspace ${workspaceId} was never used up`);
    return;
  }
  const stops = await stopsOf(db, workspaceId);
  const last = intervals.filter((one) => one.rate === 'running' && (one.endUs === null || one.endUs > opening.atUs));
  if (last.length < stoppable) problems.push(`${last.length} of ${stoppable} servers of workspace ${workspaceId} ran`);
  for (const { resourceId, endUs } of last) {
    const stop = stops.get(resourceId);
    if (endUs === null || !stop) problems.push(`server ${resourceId} was not stopped`);
    else if (endUs < usedUp) problems.push(`server ${resourceId} ended ${usedUp - endUs} µs before its balance`);
    else {
      if (endUs > stop.acceptedUs) problems.push(`server ${resourceId} cost on after its stop was accepted`);
      found.closedMs.push(Math.max(Number(endUs - usedUp), Number(stop.acceptedUs - usedUp)) / 1_000);
      found.offMs.push(Number(stop.offUs - usedUp) / 1_000);
    }
  }
  for (const [id, { times }] of stops) {
    const ran = intervals.filter(({ resourceId, rate }) => resourceId === id && rate === 'running').length;
    if (times > ran) problems.push(`server ${id} ran ${ran} times and was stopped ${times} times`);
  }

  for (const one of intervals) {
    const owed = one.endUs === null ? one.booked : owedUntil(one, one.endUs);
    if (one.booked !== owed)
      problems.push(
        `${one.rate === 'size' ? 'storage' : 'server'} ${one.resourceId} owes ${owed} of an interval, ${one.booked} is booked`,
      );
  }
  // A storage is kept at zero: its interval goes on.
  if (intervals.filter(({ rate, endUs }) => rate === 'size' && endUs === null).length !== 1)
    problems.push(`the storage of workspace ${workspaceId} is not billed on`);
  const { balance, mails, noticedUs } = await endOf(db, url, customer);
  found.noticedMs.push(Number(noticedUs - usedUp) / 1_000);
  const reserve = last.reduce((sum, one) => sum + one.reserve, 0n);
  if (fixed === 0) found.left.push(balance);
  else found.leftOfReserve.push({ left: balance, reserve });
  const mostMails = isCredited ? 2 : 1;
  if (mails < 1 || mails > mostMails) problems.push(`workspace ${workspaceId} got ${mails} notices`);
}

interface Stop {
  times: number;
  acceptedUs: bigint;
  /** When the server was seen stopped or gone. */
  offUs: bigint;
}

async function stopsOf(db: Db, workspaceId: number): Promise<Map<number, Stop>> {
  const { rows } = await sql<Stop & { id: number }>`
    select i.id, count(*)::int as times, (extract(epoch from max(a.at)) * 1000000)::bigint as "acceptedUs",
      (extract(epoch from i.status_since) * 1000000)::bigint as "offUs"
    from instance i join instance_activity a on a.instance_id = i.id
    where i.workspace_id = ${workspaceId} and a.detail = ${ZERO_BALANCE} and a.to_status in ('powering off', 'terminating')
    group by i.id`.execute(db);
  return new Map(rows.map(({ id, ...stop }) => [id, stop]));
}

async function endOf(db: Db, url: string, { workspaceId, person }: Customer) {
  const { rows } = await sql<{ balance: bigint; noticedUs: bigint }>`
    select (select sum(balance)::bigint from account where client_id = w.id) as balance,
      (extract(epoch from exhausted_at) * 1000000)::bigint as "noticedUs"
    from workspace w where id = ${workspaceId}`.execute(db);
  const mails = await mailsTo(url, person.email);
  return {
    ...rows[0]!,
    mails: mails.filter(({ subject }) => subject.includes('has no STAGI left')).length,
  };
}

async function countEnds(db: Db): Promise<{ stopped: number; terminated: number }> {
  const { rows } = await sql<{ stopped: number; terminated: number }>`select
    (count(*) filter (where status = 'stopped'))::int as stopped,
    (count(*) filter (where status = 'terminated'))::int as terminated from instance`.execute(db);
  return rows[0]!;
}

async function writeOffs(db: Db): Promise<{ uncollected: bigint; writtenOff: bigint }> {
  const { rows } = await sql<{ uncollected: bigint; writtenOff: bigint }>`select
    (select coalesce(sum(uncollected - forgiven), 0)::bigint from segment) as uncollected,
    (select -balance from account where code = 'writeoff') as "writtenOff"`.execute(db);
  return rows[0]!;
}

async function costOfRunning(db: Db): Promise<bigint> {
  const { rows } = await sql<{ cost: bigint }>`
    select coalesce(sum(charged + uncollected - refunded - forgiven), 0)::bigint as cost from segment
    where rate = 'running'`.execute(db);
  return rows[0]!.cost;
}
