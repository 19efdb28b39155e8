/**
 * The transactions of one workspace at 1,000,000 rows: the first 100 pages and deep ones, with every filter. Then
 * bookings a second: through `post`, against the same statements sent without it over one connection each (the embedded
 * PostgreSQL has no pgbench). Fails when first pages take over 50 ms at the p95, deep ones over 200 ms, or when `post`
 * is below half the speed of the bare statements.
 */
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { asMicro } from '@stagi/contract/money.ts';
import { accountOf } from '@stagi/server/src/billing/accounts.ts';
import { inLedgerTransaction, post } from '@stagi/server/src/billing/ledger.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import pg from 'pg';

const ROWS = 1_000_000;
const PAGES = 100;
const FIRST_MS = 50;
const DEEP_MS = 200;
const BOOKINGS = 1_000;
const LANES = 4;
const ROUNDS = 5;

const postgres = await startTestPostgres();
const app = await startTestApp();
const failures: string[] = [];
try {
  const alice = await app.signUp('Alice');
  const fresh = await app.signUp('Fresh');
  await fill(alice.workspaceId);
  const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  const filters: Record<string, InputOf<typeof api.transactions.list>> = {
    everything: {},
    spending: { types: ['Spending'] },
    'a rare type': { types: ['Withdrawal'] },
    'two rare types': { types: ['Withdrawal', 'Exchange'] },
    'all types but spending': { types: ['Deposit', 'Withdrawal', 'Exchange'] },
    'a week': { from: at(107), to: at(100) },
    'a rare type in a month': { types: ['Exchange'], from: at(60), to: at(30) },
    'oldest first': { entityFilterRequest: { orderByDirection: 'asc' } },
    'a year, oldest first': { from: at(365), entityFilterRequest: { orderByDirection: 'asc' } },
  };
  for (const [name, input] of Object.entries(filters)) {
    const ask = (page: number) =>
      alice.client(api.transactions.list, { ...input, entityFilterRequest: { ...input.entityFilterRequest, page } });
    const { totalPages, totalCount } = await ask(1);
    const first = await times(
      Array.from({ length: PAGES }, (_, n) => n + 1),
      ask,
    );
    const deep = await times(
      Array.from({ length: 20 }, (_, n) => Math.max(1, totalPages - n * Math.floor(totalPages / 20))),
      ask,
    );
    const [p95, deepP95] = [percentile(first, 0.95), percentile(deep, 0.95)];
    console.log(
      `transactions, ${name}: ${totalCount} rows; n = ${first.length} first pages p50 ${percentile(first, 0.5).toFixed(1)}, p95 ${p95.toFixed(1)} ms; ` +
        `n = ${deep.length} over all ${totalPages} p95 ${deepP95.toFixed(1)} ms`,
    );
    if (!(p95 <= FIRST_MS)) failures.push(`${name}: first pages p95 ${p95.toFixed(0)} ms`);
    if (!(deepP95 <= DEEP_MS)) failures.push(`${name}: deep pages p95 ${deepP95.toFixed(0)} ms`);
  }
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await perSecond(await bareLanes(fresh.workspaceId, round)));
    ours.push(await perSecond(ownLanes(fresh.workspaceId, round)));
  }
  const [own, base] = [percentile(ours, 0.5), percentile(bare, 0.5)];
  console.log(
    `bookings: n = ${ROUNDS} × ${BOOKINGS}, ${LANES} at a time: ${own.toFixed(0)}/s through post, ${base.toFixed(0)}/s bare, ratio ${(own / base).toFixed(2)} (goal 0.5)`,
  );
  if (!(own / base >= 0.5)) failures.push(`bookings: ${(own / base).toFixed(2)} of the bare statements`);
} finally {
  await app.close();
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

/** 400 days; 97 of 100 rows are usage, the rest deposits, and one in a thousand a withdrawal or an exchange. */
async function fill(workspace: number): Promise<void> {
  const client = new pg.Client({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
  await client.connect();
  await client.query(`insert into billing_transaction (workspace_id, type, kind, at, currency, amount, journal_id, network)
    select ${workspace}, case when n % 1000 = 7 then 'Withdrawal' when n % 1000 = 9 then 'Exchange'
      when n % 100 < 3 then 'Deposit' else 'Spending' end, 'plan', now() - (${ROWS} - n) * (interval '400 days' / ${ROWS}), 'STAGI',
      n, 1000000000 + n, null from generate_series(1, ${ROWS}) n`);
  await client.query(`insert into billing_transaction_count as c select workspace_id, type, (at at time zone 'UTC')::date, count(*)
    from billing_transaction where workspace_id = ${workspace} and journal_id >= 1000000000 group by 1, 2, 3
    on conflict (workspace_id, day, type) do update set n = c.n + excluded.n`);
  await client.query('vacuum analyze');
  await client.end();
}

type Lane = () => Promise<void>;

/** As the platform books: in a transaction of its own, from a pool. */
function ownLanes(workspace: number, round: number): Lane[] {
  return Array.from({ length: LANES }, (_, lane) => {
    let n = 0;
    return async () => {
      n += 1;
      await inLedgerTransaction(app.ctx.db, (trx) =>
        post(trx, 'promo', `own:${round}:${lane}:${n}`, workspace, [
          { account: 'promo', amount: asMicro(-1n) },
          { account: accountOf(workspace, 'credit'), amount: asMicro(1n) },
        ]),
      );
    };
  });
}

/** The same statements with values prepared beforehand, on connections that are not shared. */
async function bareLanes(workspace: number, round: number): Promise<Lane[]> {
  const credit = accountOf(workspace, 'credit');
  return Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const client = new pg.Client({ connectionString: app.databaseUrl });
      await client.connect();
      let n = 0;
      return async () => {
        n += 1;
        await client.query('begin');
        await client.query(
          `with given as (select ordinality - 1 as line, code, amount
              from unnest($1::text[], $2::bigint[]) with ordinality as given (code, amount, ordinality)),
            booked as (insert into journal (kind, idem_key, lines_hash, line_count, client_id, reverses_id, meta)
              values ('promo', $3, sha256(convert_to($4, 'UTF8')), 2, $5, null, '{}') on conflict (idem_key) do nothing returning id)
            insert into posting (journal_id, line, account_id, amount)
            select booked.id, given.line, account.id, given.amount from booked, given join account using (code)
            order by given.line returning journal_id`,
          [['promo', credit], ['-1', '1'], `bare:${round}:${lane}:${n}`, `promo:-1\n${credit}:1\n`, workspace],
        );
        await client.query('commit');
        if (n === BOOKINGS / LANES) await client.end();
      };
    }),
  );
}

async function perSecond(lanes: Lane[]): Promise<number> {
  const since = performance.now();
  await Promise.all(
    lanes.map(async (book) => {
      for (let n = 0; n < BOOKINGS / LANES; n += 1) await book();
    }),
  );
  return BOOKINGS / ((performance.now() - since) / 1000);
}

async function times(pages: readonly number[], ask: (page: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (const page of pages) {
    const since = performance.now();
    await ask(page);
    took.push(performance.now() - since);
  }
  return took;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
