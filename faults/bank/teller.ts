import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { accountOf } from '@stagi/server/src/billing/accounts.ts';
import { capture, hold, release } from '@stagi/server/src/billing/holds.ts';
import { inLedgerTransaction, type Line, post, reverse } from '@stagi/server/src/billing/ledger.ts';
import { lockBalances, spendingLines, split, sumOf } from '@stagi/server/src/billing/spendOrder.ts';
import { connectionOptions } from '@stagi/server/src/db/pool.ts';
import type { Database, Db } from '@stagi/server/src/db/schema.ts';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { keyOf, type Order, type Receipt } from './orders.ts';

/** A process that books orders as they come until it is killed. */
const pool = new pg.Pool({
  ...connectionOptions(process.env.BANK_DATABASE_URL!),
  max: 2,
  application_name: `bank-${process.pid}`,
});
// PostgreSQL is killed as well: the next order opens a new connection.
pool.on('error', () => {});
const db: Db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

process.on('message', (order: Order) => {
  inLedgerTransaction(db, (trx) => executeOrder(trx, order)).then(
    (moved) => process.send?.({ id: order.id, moved: String(moved) } satisfies Receipt),
    (error: unknown) => process.send?.({ id: order.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
await pool.query('select 1');
process.send?.({ ready: true });

async function executeOrder(trx: Db, order: Order): Promise<bigint> {
  const { workspace } = order;
  // A second teller with the same order waits here for the first, and then finds its booking.
  const available = await lockBalances(trx, workspace);
  const before = await movedBy(trx, order);
  if (before !== null) return before;
  switch (order.do) {
    case 'deposit':
      return move(trx, order, 'deposit', 'world:deposit', accountOf(workspace, order.into), amountOf(order));
    case 'promo':
      return move(trx, order, 'promo', 'promo', accountOf(workspace, 'credit'), amountOf(order));
    case 'spend': {
      const { parts } = split(available, amountOf(order));
      const sum = sumOf(parts);
      if (sum > 0n)
        await post(trx, 'plan', keyOf(order.id), workspace, [
          ...spendingLines(workspace, parts),
          { account: 'revenue:plan', amount: sum },
        ]);
      return sum;
    }
    case 'hold':
      if (available.onchain < amountOf(order)) return 0n;
      await hold(trx, workspace, keyOf(order.id), amountOf(order));
      return amountOf(order);
    case 'release':
    case 'capture': {
      const open = await trx
        .selectFrom('hold')
        .innerJoin('journal', 'journal.id', 'hold.journal_id')
        .select(['hold.id', 'hold.amount'])
        .where('journal.idem_key', '=', `hold:${keyOf(order.of)}`)
        .executeTakeFirstOrThrow();
      await (order.do === 'release' ? release : capture)(trx, open.id);
      return open.amount;
    }
    case 'reverse':
      return undo(trx, order.of);
  }
}

const amountOf = ({ amount }: { amount: string }): Micro => asMicro(BigInt(amount));

async function move(trx: Db, order: Order, kind: 'deposit' | 'promo', from: string, to: string, amount: Micro) {
  const lines: Line[] = [
    { account: from, amount: asMicro(-amount) },
    { account: to, amount },
  ];
  await post(trx, kind, keyOf(order.id), order.workspace, lines);
  return amount;
}

/** A promo that is spent already cannot be taken back. */
async function undo(trx: Db, of: number): Promise<bigint> {
  const promo = await trx
    .selectFrom('journal')
    .innerJoin('posting', 'posting.journal_id', 'journal.id')
    .innerJoin('account', 'account.id', 'posting.account_id')
    .select(['journal.id', 'posting.amount', 'account.balance'])
    .where('journal.idem_key', '=', keyOf(of))
    .where('account.class', '=', 'credit')
    .executeTakeFirstOrThrow();
  const undone = await trx.selectFrom('journal').select('id').where('reverses_id', '=', promo.id).executeTakeFirst();
  if (undone) return promo.amount;
  if (promo.balance < promo.amount) return 0n;
  await reverse(trx, promo.id, 'the bank wants it back');
  return promo.amount;
}

/** The amount of an order that another teller carried out before it died; null when none did. */
async function movedBy(trx: Db, order: Order): Promise<bigint | null> {
  const key = {
    deposit: keyOf(order.id),
    promo: keyOf(order.id),
    spend: keyOf(order.id),
    hold: `hold:${keyOf(order.id)}`,
    release: null,
    capture: null,
    reverse: null,
  }[order.do];
  if (key === null) return null;
  const rows = await trx
    .selectFrom('journal')
    .innerJoin('posting', 'posting.journal_id', 'journal.id')
    .select('posting.amount')
    .where('journal.idem_key', '=', key)
    .where('posting.amount', '>', asMicro(0n))
    .execute();
  return rows.length === 0 ? null : rows.reduce((sum, { amount }) => sum + amount, 0n);
}
