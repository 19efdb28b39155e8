import { asMicro, MICRO, type Micro } from '@stagi/contract/money.ts';
import { openPool } from '../../db/pool.ts';
import type { Db } from '../../db/schema.ts';
import { createTestDatabase } from '../../testing/database.ts';
import { accountOf, openAccounts, openSystemAccounts } from '../accounts.ts';
import { inLedgerTransaction, type Line, post } from '../ledger.ts';
import { spend, spendingLines, sumOf } from '../spendOrder.ts';

/** A ledger without a platform around it. */
export interface Books {
  db: Db;
  url: string;
  aWorkspace(has?: { credit?: number; card?: number; onchain?: number }): Promise<number>;
  close(): Promise<void>;
}

export async function openBooks(): Promise<Books> {
  const { url, drop } = await createTestDatabase();
  const pool = openPool(url);
  const { db } = pool;
  await openSystemAccounts(db);
  return {
    db,
    url,
    async aWorkspace(has = {}) {
      const { id } = await db
        .insertInto('workspace')
        .values({ name: 'Workspace', personal_of: null })
        .returning('id')
        .executeTakeFirstOrThrow();
      await openAccounts(db, id);
      await give(db, id, has);
      return id;
    },
    async close() {
      await pool.close();
      await drop();
    },
  };
}

export const units = (amount: number): Micro => asMicro(BigInt(amount) * MICRO);

export const move = (from: string, to: string, amount: Micro): Line[] => [
  { account: from, amount: asMicro(-amount) },
  { account: to, amount },
];

async function give(db: Db, id: number, has: { credit?: number; card?: number; onchain?: number }): Promise<void> {
  const { credit = 0, card = 0, onchain = 0 } = has;
  await inLedgerTransaction(db, async (trx) => {
    if (credit) await post(trx, 'promo', `given:${id}`, id, move('promo', accountOf(id, 'credit'), units(credit)));
    if (card) await post(trx, 'deposit', `card:${id}`, id, move('world:deposit', accountOf(id, 'card'), units(card)));
    if (onchain)
      await post(trx, 'deposit', `chain:${id}`, id, move('world:deposit', accountOf(id, 'onchain'), units(onchain)));
  });
}

/** Takes an amount from what a workspace can spend, as a plan's price: one journal, no server behind it. */
export function charge(db: Db, id: number, key: string, amount: Micro): Promise<bigint | null> {
  return inLedgerTransaction(db, async (trx) => {
    const { parts } = await spend(trx, id, amount);
    if (sumOf(parts) === 0n) return null;
    return post(trx, 'plan', key, id, [...spendingLines(id, parts), { account: 'revenue:plan', amount: sumOf(parts) }]);
  });
}
