/**
 * One tick over all running intervals, as a worker makes it, on a PostgreSQL that writes to disk as in production:
 * 1,000, 10,000 and 100,000 intervals of 10, 100 and 1,000 workspaces. Fails when 100,000 take more than 5 s, or when
 * the cost of an interval is higher among 100,000 than among 1,000. Also measures the check for exhausted balances,
 * which runs every 5 s. Then computes all charges again and runs the verifier over everything. `--workspaces=` makes it
 * smaller.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MICRO } from '@stagi/contract/money.ts';
import { HOURS_PER_MONTH, MICRO_PER_GB_MONTH } from '@stagi/contract/storageRules.ts';
import { aWorkspaceWith, serversOf, storagesOf } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { inTransaction } from '@stagi/server/src/db/pool.ts';
import { verifyLedger } from '@stagi/server/src/ledger/verify.ts';
import { meterDueWorkspaces, reactToBalances } from '@stagi/server/src/metering/worker.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { sql } from 'kysely';
import { timed } from './million.ts';
import { median } from './report.ts';

const EACH = 100;
const MOST_MS = 5_000;
/** The cost of an interval among 100,000 relative to one among 1,000, with room for noise in short ticks. */
const LINEAR_WITHIN = 1.5;
const MOST = Number(process.argv.find((argument) => argument.startsWith('--workspaces='))?.slice(13) ?? 1_000);
const STEPS = [
  { workspaces: 10, rounds: 15 },
  { workspaces: 100, rounds: 9 },
  { workspaces: 1_000, rounds: 7 },
].map(({ workspaces, rounds }) => ({ workspaces: Math.min(workspaces, MOST), rounds }));
/** Rounds of the check that runs every five seconds. */
const LOOKS = 9;
const AN_HOUR_MS = 3_600_000;

const folder = mkdtempSync(join(tmpdir(), 'stagi-metering-'));
const postgres = await startEmbeddedPostgres({ dataDir: folder, log: { info() {}, warn: console.warn } });
process.env.TEST_DATABASE_URL = postgres.url;
const databases = await startTestPostgres();
// Without workers: nothing runs in the background.
const app = await startTestApp({ LOG_LEVEL: 'error' }, { role: 'api' });
const { ctx } = app;
const failures: string[] = [];
let filled = 0;
try {
  const perInterval: number[] = [];
  for (const { workspaces, rounds } of STEPS) perInterval.push(await ticksOver(workspaces, rounds));
  const ratio = perInterval.at(-1)! / perInterval[0]!;
  console.log(
    `metering: an interval among the most costs ${ratio.toFixed(2)} of one among the fewest, goal ≤ ${LINEAR_WITHIN}`,
  );
  if (!(ratio <= LINEAR_WITHIN)) failures.push(`an interval costs ${ratio.toFixed(2)} times as much among many`);
  await looks();
  await totals();
  await verifies(app);
} finally {
  await app.close();
  await databases.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

/** Fills up to this many workspaces, ticks, and returns the milliseconds per interval in the median tick. */
async function ticksOver(workspaces: number, rounds: number): Promise<number> {
  await fillUpTo(workspaces);
  const took: number[] = [];
  let [segments, charged, journals] = [0, 0n, 0];
  for (let round = 0; round < rounds; round += 1) {
    let ticks: Awaited<ReturnType<typeof meterDueWorkspaces>> = [];
    took.push(await timed(async () => (ticks = await meterDueWorkspaces(ctx, 0))));
    segments = ticks.reduce((sum, tick) => sum + tick.segments, 0);
    charged += ticks.reduce((sum, tick) => sum + tick.charged, 0n);
    journals += ticks.filter((tick) => tick.charged > 0n).length;
    if (segments !== workspaces * EACH) failures.push(`${segments} of ${workspaces * EACH} intervals were metered`);
  }
  const ms = median(took);
  console.log(
    `metering: n = ${segments} intervals of ${workspaces} workspaces: a tick ${(ms / 1000).toFixed(2)} s (${rounds} ticks, ` +
      `${(Math.min(...took) / 1000).toFixed(2)}–${(Math.max(...took) / 1000).toFixed(2)}), ${((ms / segments) * 1000).toFixed(0)} µs each; ` +
      `${journals} journals, ${charged} micro-STAGI`,
  );
  if (journals !== workspaces * rounds)
    failures.push(`${journals} journals of ${workspaces} workspaces in ${rounds} ticks`);
  if (segments >= 100_000 && !(ms <= MOST_MS))
    failures.push(`a tick over ${segments} intervals took ${ms.toFixed(0)} ms`);
  return ms / segments;
}

/** Workspaces whose servers have run and whose storage was kept for ten minutes, each at a price of its own, paid from one account or two. */
async function fillUpTo(workspaces: number): Promise<void> {
  const { db } = ctx;
  for (; filled < workspaces; filled += 1)
    await inTransaction(db, async (trx) => {
      const balances = { credit: filled % 3 === 0 ? 60n * MICRO : 10n ** 12n, card: 10n ** 12n };
      const workspace = await aWorkspaceWith(trx, balances);
      const ids = await serversOf(trx, workspace, EACH - 1, { status: 'online', machineState: 'running' });
      await sql`update instance set price_per_hour = 1000000 + (id * 7919) % 5000000 where id = any(${ids}::int[])`.execute(
        trx,
      );
      await sql`insert into segment (client_id, kind, resource_id, rate, price, started_at, metered_until, confirmed)
        select workspace_id, 'instance', id, 'running', price_per_hour, at, at, true
        from instance, (select now() - interval '10 minutes' as at) a where id = any(${ids}::int[])`.execute(trx);
      const storages = await storagesOf(trx, workspace, 1, {
        status: 'rented',
        pricePerMonth: 10_000n * MICRO_PER_GB_MONTH,
      });
      await sql`insert into segment (client_id, kind, resource_id, rate, price, price_hours, started_at, metered_until, confirmed)
        select workspace_id, 'storage', id, 'size', price_per_month + id, ${HOURS_PER_MONTH}, at, at, true
        from storage, (select now() - interval '10 minutes' as at) a where id = any(${storages}::int[])`.execute(trx);
      await sql`insert into workspace_meter (client_id, metered_at)
        values (${workspace.workspaceId}, now() - interval '10 minutes')`.execute(trx);
    });
  for (const table of ['account', 'instance', 'storage', 'segment', 'workspace_meter', 'workspace'])
    await sql.raw(`vacuum analyze ${table}`).execute(db);
}

/** The cost between two ticks: the check for exhausted balances, and the work that follows zero balances. */
async function looks(): Promise<void> {
  const [look, follow]: [number[], number[]] = [[], []];
  for (let n = 0; n < LOOKS; n += 1) {
    look.push(await timed(() => meterDueWorkspaces(ctx, AN_HOUR_MS)));
    follow.push(await timed(() => reactToBalances(ctx)));
  }
  console.log(
    `metering: the look for what has run out ${median(look).toFixed(0)} ms, for what follows from that ${median(follow).toFixed(0)} ms ` +
      `of every 5,000 (n = ${LOOKS})`,
  );
}

/** Computes all charges again from start, end and price, and compares them with the accounts. */
async function totals(): Promise<void> {
  const { rows } = await sql<{ price: bigint; hours: number; micros: bigint; charged: bigint; uncollected: bigint }>`
    select price, price_hours as hours, charged, uncollected,
      (extract(epoch from metered_until - started_at) * 1000000)::bigint as micros from segment`.execute(ctx.db);
  const costOf = ({ price, hours, micros }: Pick<(typeof rows)[number], 'price' | 'hours' | 'micros'>): bigint =>
    (price * micros) / (3_600_000_000n * BigInt(hours));
  const wrong = rows.filter((row) => row.charged !== costOf(row) || row.uncollected !== 0n);
  const owed = rows.reduce((sum, row) => sum + costOf(row), 0n);
  const { rows: sums } = await sql<{ revenue: bigint; spent: bigint; charges: bigint }>`select
    (select sum(balance)::bigint from account where class = 'revenue:usage') as revenue,
    (select -sum(p.amount)::bigint from posting p join account a on a.id = p.account_id join journal j on j.id = p.journal_id
      where a.client_id is not null and j.kind = 'usage') as spent,
    (select sum(credit + card + onchain)::bigint from segment_charge) as charges`.execute(ctx.db);
  const { revenue, spent, charges } = sums[0]!;
  console.log(
    `metering: n = ${rows.length} bills computed once more, ${wrong.length} off; ${owed} micro-STAGI owed, ${charges} charged, ` +
      `${spent} taken from workspaces, ${revenue} booked as use`,
  );
  if (rows.length === 0 || owed === 0n || wrong.length > 0) failures.push(`${wrong.length} bills are off`);
  if (charges !== owed || spent !== owed || revenue !== owed) failures.push('the accounts say otherwise');
}

async function verifies({ ctx: { db } }: TestApp): Promise<void> {
  const since = performance.now();
  const { problems, counts, findings } = await verifyLedger(db);
  console.log(
    `metering: verified ${JSON.stringify(counts)} in ${((performance.now() - since) / 1000).toFixed(1)} s, ${problems} problems`,
  );
  if (problems > 0 || !counts.charges) failures.push(`the verifier: ${JSON.stringify(findings.slice(0, 5))}`);
}
