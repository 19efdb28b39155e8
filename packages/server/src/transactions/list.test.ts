import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { TRANSACTION_TYPES, type TransactionType } from '@stagi/contract/transactions.ts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountOf } from '../billing/accounts.ts';
import { hold, release } from '../billing/holds.ts';
import { inLedgerTransaction, post, reverse } from '../billing/ledger.ts';
import { type Books, charge, move, openBooks, units } from '../billing/testing/books.ts';
import { pageOfTransactions } from './list.ts';

let books: Books;
let workspace: number;
let rows: { id: number; type: TransactionType; at: number }[];

/** Days at the ends of a month and over noon and midnight, some with nothing, one with much. */
const SPREAD = sql`'2026-02-26T00:00:00Z'::timestamptz + (n % 7) * interval '20 hours' + (n % 3) * interval '1 second'`;

beforeAll(async () => {
  books = await openBooks();
  const { db } = books;
  workspace = await books.aWorkspace();
  const other = await books.aWorkspace({ credit: 1 });
  await db.transaction().execute(async (trx) => {
    // Rows of long ago, which nobody could book now.
    await sql`set local session_replication_role = replica`.execute(trx);
    for (const id of [workspace, other])
      await sql`with j as (
        insert into journal (kind, idem_key, lines_hash, line_count, client_id, hash)
        select 'promo', 'fill:' || ${id}::text || ':' || n, '\\x', 2, ${id}::int, '\\x' from generate_series(1, 120) n
        returning id, substring(idem_key from '\\d+$')::int as n)
      insert into billing_transaction (workspace_id, type, kind, at, currency, amount, journal_id)
      select ${id}, (array['Spending', 'Deposit', 'Spending', 'Exchange', 'Spending', 'Withdrawal'])[n % 6 + 1], 'promo',
        ${SPREAD}, 'STAGI', n, id from j`.execute(trx);
    await sql`insert into billing_transaction_count
      select workspace_id, type, (at at time zone 'UTC')::date, count(*) from billing_transaction
      where kind = 'promo' and workspace_id = ${workspace} group by 1, 2, 3`.execute(trx);
  });
  const stored = await db
    .selectFrom('billing_transaction')
    .select(['id', 'type', 'at'])
    .where('workspace_id', '=', workspace)
    .execute();
  rows = stored.map(({ id, type, at }) => ({ id: Number(id), type, at: at.getTime() }));
});
afterAll(() => books?.close());

it('shows, whatever it is narrowed by and whatever page, what a plain filter shows', async () => {
  const time = fc.date({
    min: new Date('2026-02-24T00:00:00Z'),
    max: new Date('2026-03-06T00:00:00Z'),
    noInvalidDate: true,
  });
  let pages = 0;
  let filled = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.subarray([...TRANSACTION_TYPES]),
      fc.option(time, { nil: undefined }),
      fc.option(time, { nil: undefined }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(1, 7, 10, 100),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (types, from, to, page, limit, orderByDirection) => {
        const request: EntityFilterRequest = { orderByField: 'createdAt', orderByDirection, page, limit };
        const narrowed = { types, from: from?.toISOString(), to: to?.toISOString() };
        const expected = rows
          .filter(({ type }) => types.length === 0 || types.includes(type))
          .filter(({ at }) => (!from || at >= from.getTime()) && (!to || at <= to.getTime()))
          .toSorted((a, b) => a.at - b.at || a.id - b.id);
        if (orderByDirection === 'desc') expected.reverse();
        const found = await pageOfTransactions(books.db, workspace, narrowed, request);
        expect(found.count).toBe(expected.length);
        expect(found.entities.map(({ id }) => id)).toEqual(
          expected.slice((page - 1) * limit, page * limit).map(({ id }) => id),
        );
        pages += 1;
        if (found.entities.length > 0) filled += 1;
      },
    ),
    { numRuns: 150 },
  );
  console.log(`transaction list: n = ${pages} pages, ${filled} of them with rows, of ${rows.length} rows`);
  expect(rows.length).toBe(120);
  expect(filled).toBeGreaterThan(0);
});

it('has one row for each booking that changes what can be spent, adding up to it', async () => {
  const { db } = books;
  const id = await books.aWorkspace({ credit: 5, onchain: 10 });
  await charge(db, id, `plan:${id}`, units(6));
  const kept = await inLedgerTransaction(db, (trx) =>
    hold(trx, id, `kept:${id}`, units(2), { to: '0xabc', network: 'ERC20' }),
  );
  await inLedgerTransaction(db, (trx) => release(trx, kept));
  const mistake = await inLedgerTransaction(db, (trx) =>
    post(trx, 'deposit', `mistake:${id}`, id, move('world:deposit', accountOf(id, 'card'), units(9)), {
      from: '4242',
      network: 'card',
    }),
  );
  await inLedgerTransaction(db, (trx) => reverse(trx, mistake, 'twice'));
  const request: EntityFilterRequest = { orderByField: 'createdAt', orderByDirection: 'asc', page: 1, limit: 100 };
  const { entities, count } = await pageOfTransactions(db, id, {}, request);
  expect(count).toBe(7);
  expect(
    entities.map(({ type, kind, amount, addresses, network }) => [
      type,
      kind,
      amount.decimalValue,
      addresses.from,
      addresses.to,
      network,
    ]),
  ).toEqual([
    ['Deposit', 'promo', '5.00', null, null, null],
    ['Deposit', 'deposit', '10.00', null, null, null],
    ['Spending', 'plan', '-6.00', null, null, null],
    ['Withdrawal', 'hold', '-2.00', null, '0xabc', 'ERC20'],
    ['Withdrawal', 'release', '2.00', null, null, null],
    ['Deposit', 'deposit', '9.00', '4242', null, 'card'],
    ['Deposit', 'reversal', '-9.00', null, null, null],
  ]);
});
