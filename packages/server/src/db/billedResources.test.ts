import { randomBytes } from 'node:crypto';
import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountOf, openAccounts, openSystemAccounts, revenueOf } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { createTestDatabase } from '../testing/database.ts';
import { pageOfTransactions } from '../transactions/list.ts';
import { viewTransaction } from '../transactions/view.ts';
import { pageOfIntervals } from '../usage/intervals.ts';
import { MIGRATIONS, migrate } from './migrate.ts';
import { openPool, type Pool } from './pool.ts';

/** The last version in which a segment was of a server. */
const BEFORE = '0047_storages';
const PRICE = 3_600_000n;

let base: { url: string; drop(): Promise<void> };
let pool: Pool;
let workspaceId: number;
let server: number;

/** A database of that version with a server that was charged for two hours and still runs, and one that was refunded. */
beforeAll(async () => {
  base = await createTestDatabase();
  const name = `${new URL(base.url).pathname.slice(1)}_${randomBytes(3).toString('hex')}`;
  await execute(base.url, `create database ${name}`);
  const url = new URL(base.url);
  url.pathname = `/${name}`;
  await migrateUntil(url.href, BEFORE);
  pool = openPool(url.href);
  await fill();
  expect(await migrate(url.href)).toHaveLength(
    MIGRATIONS.length - MIGRATIONS.findIndex((one) => one.name === BEFORE) - 1,
  );
});
afterAll(async () => {
  const name = (await pool.pg.query<{ name: string }>('select current_database() as name')).rows[0]!.name;
  await pool.close();
  await execute(base.url, `drop database ${name} with (force)`);
  await base.drop();
});

async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function migrateUntil(url: string, last: string): Promise<void> {
  const old = MIGRATIONS.slice(0, MIGRATIONS.findIndex(({ name }) => name === last) + 1);
  await execute(
    url,
    'create table migration (name text primary key, applied_at timestamptz not null default now())',
    ...old.map((migration) => migration.sql),
    `insert into migration (name) values ${old.map(({ name }) => `('${name}')`).join(', ')}`,
    `insert into journal_kind (kind, shown_as, reversible) values ('promo', 'Deposit', true), ('usage', 'Spending', false), ('refund', 'Spending', false)
     on conflict do nothing`,
    `insert into journal_flow (kind, account_class, sign) values ('promo', 'promo', -1), ('promo', 'credit', 1),
     ('usage', 'credit', -1), ('usage', 'revenue:usage', 1), ('refund', 'revenue:usage', -1), ('refund', 'credit', 1)`,
  );
}

async function fill(): Promise<void> {
  const { db } = pool;
  await openSystemAccounts(db);
  const user = await db
    .insertInto('app_user')
    .values({ email: 'old@example.com', name: 'Old' })
    .returning('id')
    .executeTakeFirstOrThrow();
  workspaceId = (await db.insertInto('workspace').values({ name: 'Old' }).returning('id').executeTakeFirstOrThrow()).id;
  await openAccounts(db, workspaceId);
  const servers = await sql<{ id: number }>`
    insert into instance (workspace_id, kind, slug, title, created_by, status, provider, price_per_hour, stopped_price_per_hour)
    select ${workspaceId}::int, 'rented', 'old-' || n, 'Old server ' || n, ${user.id}::int, 'online', 'nowhere', ${PRICE}::bigint, 0
    from generate_series(1, 2) n returning id`.execute(db);
  const [runs, failed] = servers.rows.map(({ id }) => id);
  server = runs!;
  const credit = accountOf(workspaceId, 'credit');
  const revenue = revenueOf(workspaceId);
  await db.transaction().execute(async (trx) => {
    await post(trx, 'promo', 'old:credit', workspaceId, [
      { account: 'promo', amount: asMicro(-100n * PRICE) },
      { account: credit, amount: asMicro(100n * PRICE) },
    ]);
    const usage = await post(trx, 'usage', `usage:${workspaceId}:1`, workspaceId, [
      { account: credit, amount: asMicro(-3n * PRICE) },
      { account: revenue, amount: asMicro(3n * PRICE) },
    ]);
    const refund = await post(trx, 'refund', 'refund:2', workspaceId, [
      { account: credit, amount: asMicro(PRICE) },
      { account: revenue, amount: asMicro(-PRICE) },
    ]);
    await sql`insert into segment (client_id, instance_id, rate, price_per_hour, started_at, ended_at, metered_until, charged, refunded,
        confirmed, voided, settled)
      values (${workspaceId}, ${runs}, 'running', ${PRICE}, now() - interval '3 hours', null, now() - interval '1 hour', ${2n * PRICE}, 0, true, false, false),
        (${workspaceId}, ${failed}, 'running', ${PRICE}, now() - interval '3 hours', now() - interval '2 hours', now() - interval '2 hours',
          ${PRICE}, ${PRICE}, false, true, true)`.execute(trx);
    await sql`insert into segment_charge (segment_id, until, journal_id, credit, card, onchain, uncollected, charged_total, uncollected_total)
      select id, metered_until, ${usage}, charged, 0, 0, 0, charged, 0 from segment`.execute(trx);
    await sql`insert into segment_refund (segment_id, at, journal_id, credit, card, onchain, forgiven)
      select id, ended_at, ${refund}, refunded, 0, 0, 0 from segment where voided`.execute(trx);
    await sql`insert into usage_day (client_id, day, instance_id, charged, refunded, last_at)
      select client_id, (metered_until at time zone 'UTC')::date, instance_id, charged, refunded, metered_until from segment`.execute(
      trx,
    );
    await sql`insert into workspace_meter (client_id, journals, metered_at) values (${workspaceId}, 1, now() - interval '1 hour')`.execute(
      trx,
    );
  });
}

const REQUEST = { orderByField: 'createdAt', orderByDirection: 'desc' as const, page: 1, limit: 10 };

it('keeps what servers were charged before there were storages, and goes on charging them', async () => {
  const { db } = pool;
  expect((await verifyLedger(db)).findings).toEqual([]);
  const { rows } = await sql<{ kind: string; price: bigint; price_hours: number }>`
    select kind, price, price_hours from segment order by id`.execute(db);
  expect(rows).toEqual([
    { kind: 'instance', price: PRICE, price_hours: 1 },
    { kind: 'instance', price: PRICE, price_hours: 1 },
  ]);
  const tick = await meterWorkspace(db, workspaceId);
  expect(tick!.charged >= PRICE && tick!.charged < PRICE + PRICE / 60n).toBe(true);
  expect(tick!.uncollected).toBe(0n);
  const verdict = await verifyLedger(db);
  expect(verdict.findings).toEqual([]);
  expect(verdict.counts).toMatchObject({ segments: 2, refunds: 1 });
});

it('shows it as before: transactions with their server, and intervals', async () => {
  const { db } = pool;
  const { entities } = await pageOfTransactions(db, workspaceId, { types: ['Spending'] }, REQUEST);
  expect(new Set(entities.map(({ kind, resource }) => `${kind} ${resource?.kind} ${resource?.slug}`))).toEqual(
    new Set(['usage instance-rented old-1', 'usage instance-rented old-2', 'refund instance-rented old-2']),
  );
  const first = entities.find(({ kind, resource }) => kind === 'usage' && resource?.id === server)!;
  const { segments } = await viewTransaction(db, workspaceId, first.id);
  expect(segments.length).toBeGreaterThan(0);
  const { rows } = await pageOfIntervals(db, workspaceId, { queryString: 'old-1' }, REQUEST);
  expect(rows).toMatchObject([{ resource_kind: 'instance', resource_id: server, per_hour: PRICE, open: true }]);
});
