import { asMicro, type Micro } from '@stagi/contract/money.ts';
import type { Db } from '../db/schema.ts';
import { accountOf, SPENDABLE } from './accounts.ts';
import type { Line } from './ledger.ts';

/** An amount by the account that it is in or comes from. */
export type Parts = Record<(typeof SPENDABLE)[number], Micro>;

export interface Spending {
  parts: Parts;
  /** What the accounts do not cover: for `writeoff`. */
  uncollected: Micro;
  /** What the accounts hold afterwards. */
  left: Parts;
}

const NOTHING = asMicro(0n);

/**
 * How `amount` is paid by what the workspace has: credit first, then card, then onchain. Locks its accounts until the
 * transaction ends; books nothing: the journal of the caller has the `spendingLines` of it.
 */
export async function spend(trx: Db, workspaceId: number, amount: Micro): Promise<Spending> {
  return split(await lockParts(trx, workspaceId), amount);
}

/** What the workspace can spend, locked until the transaction ends. */
export async function lockParts(trx: Db, workspaceId: number): Promise<Parts> {
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
    rows.find(({ code }) => code === accountOf(workspaceId, kind))?.balance ?? NOTHING;
  return { credit: balanceOf('credit'), card: balanceOf('card'), onchain: balanceOf('onchain') };
}

/** The same as one sum, in micro-STAGI: two rents cannot spend the same hour. */
export async function lockAvailable(trx: Db, workspaceId: number): Promise<bigint> {
  return sumOf(await lockParts(trx, workspaceId));
}

/** As `spend` without a database: several amounts in turn are split by handing `left` on. */
export function split(available: Parts, amount: Micro): Spending {
  if (amount < 0n) throw new RangeError(`cannot spend ${amount}`);
  const parts = { credit: NOTHING, card: NOTHING, onchain: NOTHING };
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
export function spendingLines(workspaceId: number, parts: Parts): Line[] {
  return SPENDABLE.filter((kind) => parts[kind] !== 0n).map((kind) => ({
    account: accountOf(workspaceId, kind),
    amount: asMicro(-parts[kind]),
  }));
}

export const sumOf = ({ credit, card, onchain }: Parts): Micro => asMicro(credit + card + onchain);
