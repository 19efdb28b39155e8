/**
 * The verifier over 1,000,000 postings, booked as the platform books them: its duration, its memory in this process,
 * and how much slower bookings are meanwhile. Fails when its memory grows with the ledger, when it finds something, or
 * when a booking waits for it. `--postings=` makes it smaller.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { asMicro, MICRO } from '@stagi/contract/money.ts';
import { accountOf, openSystemAccounts } from '@stagi/server/src/billing/accounts.ts';
import { inLedgerTransaction, post } from '@stagi/server/src/billing/ledger.ts';
import { aWorkspaceWith } from '@stagi/server/src/billing/meteredWorkspace.ts';
import { inTransaction, openPool } from '@stagi/server/src/db/pool.ts';
import { verifyLedger } from '@stagi/server/src/ledger/verify.ts';
import { createTestDatabase, startTestPostgres } from '@stagi/server/src/testing/database.ts';
import pg from 'pg';
import { percentile, timed } from './million.ts';
import { median } from './report.ts';

const POSTINGS = Number(process.argv.find((argument) => argument.startsWith('--postings='))?.slice(11) ?? 1_000_000);
const WORKSPACES = 1_000;
const AT_ONCE = 5_000;
const RUNS = 3;
/** Growth of the heap between the first page and the last. */
const MOST_MB = 64;
/** Duration of a booking relative to one without the verifier: the two share the cores of the machine. */
const SLOWER_AT_MOST = 3;

const postgres = await startTestPostgres();
const database = await createTestDatabase();
const pool = openPool(database.url);
const { db } = pool;
const failures: string[] = [];
try {
  await openSystemAccounts(db);
  const workspaces = await inTransaction(db, async (trx) => {
    const ids: number[] = [];
    for (let n = 0; n < WORKSPACES; n += 1)
      ids.push((await aWorkspaceWith(trx, { credit: 1_000n * MICRO })).workspaceId);
    return ids;
  });
  await fill(workspaces);
  const alone = await bookings(workspaces[0]!, async () => pause(3_000));
  const took: number[] = [];
  let most = 0;
  let postings = 0;
  const beside = await bookings(workspaces[0]!, async () => {
    for (let run = 0; run < RUNS; run += 1) {
      let first: number | null = null;
      took.push(
        await timed(async () => {
          const { problems, findings, counts } = await verifyLedger(db, async () => {
            globalThis.gc?.();
            const { heapUsed } = process.memoryUsage();
            first ??= heapUsed;
            most = Math.max(most, heapUsed - first);
          });
          postings = counts.postings ?? 0;
          if (problems > 0) failures.push(`it found ${problems}: ${JSON.stringify(findings.slice(0, 3))}`);
        }),
      );
    }
  });
  const ms = median(took);
  console.log(
    `verifier: n = ${postings} postings in ${(ms / 1000).toFixed(1)} s (${took.map((t) => (t / 1000).toFixed(1)).join(', ')}), ` +
      `${Math.round(postings / (ms / 1000))} a second; its heap grew by ${(most / 2 ** 20).toFixed(1)} MB`,
  );
  const [p50, p99] = [percentile(beside, 0.5), percentile(beside, 0.99)];
  const slower = p50 / percentile(alone, 0.5);
  console.log(
    `verifier: bookings meanwhile n = ${beside.length}, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)}, longest ${Math.max(...beside).toFixed(0)}; ` +
      `alone n = ${alone.length}, p50 ${percentile(alone, 0.5).toFixed(1)}, p99 ${percentile(alone, 0.99).toFixed(1)}; ${slower.toFixed(2)} times as long`,
  );
  if (postings < POSTINGS || beside.length === 0 || alone.length === 0) failures.push('n is too small');
  if (!(most <= MOST_MB * 2 ** 20)) failures.push(`its heap grew by ${(most / 2 ** 20).toFixed(0)} MB`);
  if (!(slower <= SLOWER_AT_MOST)) failures.push(`a booking takes ${slower.toFixed(1)} times as long while it reads`);
} finally {
  await pool.close();
  await database.drop();
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

/** Journals of two lines each, many in one statement; every rule of the database checks them. */
async function fill(workspaces: readonly number[]): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  for (let n = 0; n < POSTINGS / 2; n += AT_ONCE)
    await client.query(
      `with given as (
        select n, w, 'workspace:' || w || ':credit' as credit from (
          select n, ($2::int[])[1 + n % cardinality($2::int[])] as w from generate_series($1::int, $1 + ${AT_ONCE} - 1) n) as part
      ), booked as (
        insert into journal (kind, idem_key, lines_hash, line_count, client_id)
        select 'plan', 'fill:' || n, sha256(convert_to('revenue:plan:1000' || E'\\n' || credit || ':-1000' || E'\\n', 'UTF8')), 2, w
        from given returning id, idem_key
      )
      insert into posting (journal_id, line, account_id, amount)
      select booked.id, l.line, a.id, l.amount
      from booked join given on booked.idem_key = 'fill:' || given.n,
        lateral (values (0, 'revenue:plan', 1000), (1, given.credit, -1000)) as l (line, code, amount) join account a using (code)`,
      [n, workspaces],
    );
  await client.query('vacuum analyze');
  await client.end();
}

/** Books without a pause until `work` is done; returns how long each booking took. */
async function bookings(workspace: number, work: () => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  let isDone = false;
  const booking = (async () => {
    while (!isDone) {
      took.push(
        await timed(() =>
          inLedgerTransaction(db, (trx) =>
            post(trx, 'promo', `beside:${performance.now()}:${took.length}`, workspace, [
              { account: 'promo', amount: asMicro(-1n) },
              { account: accountOf(workspace, 'credit'), amount: asMicro(1n) },
            ]),
          ),
        ),
      );
      await pause(5);
    }
  })();
  await work();
  isDone = true;
  await booking;
  return took;
}
