import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { type AmountsByAccount, type Spending, split } from './spendOrder.ts';

/**
 * Shares what can be spent among intervals, in their order, each part from the first account that holds something. What
 * the accounts do not hold any more is uncollected.
 */
export function allocateCharges(dues: readonly Micro[], available: AmountsByAccount): Spending[] {
  let left = available;
  return dues.map((due) => {
    const spending = split(left, due);
    left = spending.left;
    return spending;
  });
}

export const ZERO_AMOUNTS: AmountsByAccount = { credit: asMicro(0n), card: asMicro(0n), onchain: asMicro(0n) };

export const addBalances = (a: AmountsByAccount, b: AmountsByAccount): AmountsByAccount => ({
  credit: asMicro(a.credit + b.credit),
  card: asMicro(a.card + b.card),
  onchain: asMicro(a.onchain + b.onchain),
});
