import type { Db } from '@stagi/server/src/db/schema.ts';
import type { Order } from './orders.ts';

/** Compares the receipts of the customers with the accounts and the journals. */
export async function findDifferences(
  db: Db,
  receipts: ReadonlyMap<number, { order: Order; moved: bigint }>,
): Promise<{ drift: bigint; duplicates: number }> {
  const sums: Record<Order['do'], bigint> = {
    deposit: 0n,
    promo: 0n,
    spend: 0n,
    hold: 0n,
    release: 0n,
    capture: 0n,
    reverse: 0n,
  };
  const perWorkspace = new Map<number, bigint>();
  let moving = 0;
  for (const { order, moved } of receipts.values()) {
    sums[order.do] += moved;
    if (moved > 0n) moving += 1;
    const before = perWorkspace.get(order.workspace) ?? 0n;
    perWorkspace.set(order.workspace, before + SIGN[order.do] * moved);
  }
  const expected: Record<string, bigint> = {
    'world:deposit': -sums.deposit,
    promo: sums.reverse - sums.promo,
    'revenue:plan': sums.spend,
    'world:payout': sums.capture,
  };
  for (const [workspace, sum] of perWorkspace) expected[`workspace:${workspace}`] = sum;

  const accounts = await db.selectFrom('account').select(['code', 'client_id', 'balance']).execute();
  const found: Record<string, bigint> = {};
  for (const { code, client_id: workspace, balance } of accounts) {
    const name = workspace === null ? code : `workspace:${workspace}`;
    found[name] = (found[name] ?? 0n) + balance;
  }
  let drift = 0n;
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const off = (found[name] ?? 0n) - (expected[name] ?? 0n);
    drift += off < 0n ? -off : off;
  }
  const { count } = await db
    .selectFrom('journal')
    .select((of) => of.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return { drift, duplicates: Math.abs(Number(count) - moving) };
}

/** How an order changes the total of a workspace, held amounts included. */
const SIGN: Record<Order['do'], bigint> = {
  deposit: 1n,
  promo: 1n,
  spend: -1n,
  hold: 0n,
  release: 0n,
  capture: -1n,
  reverse: -1n,
};
