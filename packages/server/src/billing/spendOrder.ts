import { asMicro, type Micro } from '@stagi/contract/money.ts';
import type { Db } from '../db/schema.ts';
import { accountOf, SPENDABLE } from './accounts.ts';
import type { Line } from './ledger.ts';

/** Amounts by the kind of account that holds them, or that they are paid from. */
export type AmountsByAccount = Record<(typeof SPENDABLE)[number], Micro>;

export interface Spending {
  parts: AmountsByAccount;
  /** What the accounts do not cover: for `writeoff`. */
  uncollected: Micro;
  /** What the accounts hold afterwards. */
  left: AmountsByAccount;
}

const ZERO = asMicro(0n);

/**
 * How `amount` is paid by what the workspace has: credit first, then card, then onchain. Locks its accounts until the
 * transaction ends; books nothing: the journal of the caller has the `spendingLines` of it.
 */
export async function spend(trx: Db, workspaceId: number, amount: Micro): Promise<Spending> {
  return split(await lockBalances(trx, workspaceId), amount);
}

/** The spendable balances of a workspace, locked until the transaction ends. */
export async function lockBalances(trx: Db, workspaceId: number): Promise<AmountsByAccount> {
  const rows = await trx
    .selectFrom('account')
    .select(['code', 'balance'])
    .where(
      'code',
      'in',
      SPENDABLE.map((kind) => accountOf(workspaceId, kind)),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const balanceOf = (kind: (typeof SPENDABLE)[number]): Micro =>
    rows.find(({ code }) => code === accountOf(workspaceId, kind))?.balance ?? ZERO;
  return { credit: balanceOf('credit'), card: balanceOf('card'), onchain: balanceOf('onchain') };
}

/** Their sum in micro-STAGI, locked as well: two rents cannot spend the same balance. */
export async function lockAvailableBalance(trx: Db, workspaceId: number): Promise<bigint> {
  return sumOf(await lockBalances(trx, workspaceId));
}

/** As `spend` without a database: several amounts in turn are split by handing `left` on. */
export function split(available: AmountsByAccount, amount: Micro): Spending {
  if (amount < 0n) throw new RangeError(`cannot spend ${amount}`);
  const parts = { credit: ZERO, card: ZERO, onchain: ZERO };
  const left = { ...available };
  let open: bigint = amount;
  for (const kind of SPENDABLE) {
    const taken = open < available[kind] ? open : available[kind];
    parts[kind] = asMicro(taken);
    left[kind] = asMicro(available[kind] - taken);
    open -= taken;
  }
  return { parts, uncollected: asMicro(open), left };
}

/** The lines that take the parts from the workspace's accounts; what is nothing has none. */
export function spendingLines(workspaceId: number, parts: AmountsByAccount): Line[] {
  return SPENDABLE.filter((kind) => parts[kind] !== 0n).map((kind) => ({
    account: accountOf(workspaceId, kind),
    amount: asMicro(-parts[kind]),
  }));
}

export const sumOf = ({ credit, card, onchain }: AmountsByAccount): Micro => asMicro(credit + card + onchain);
