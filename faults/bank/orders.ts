import type { Random } from '../random.ts';

/**
 * An order to a teller; the same order sent twice is one booking. Amounts are text, as they are sent between processes.
 */
export type Order = { id: number; workspace: number } & (
  | { do: 'deposit'; into: 'card' | 'onchain'; amount: string }
  | { do: 'promo'; amount: string }
  | { do: 'spend'; amount: string }
  | { do: 'hold'; amount: string }
  | { do: 'release' | 'capture' | 'reverse'; of: number }
);

/** The result of an order: the amount that it moved, 0 when there was nothing to move. */
export interface Receipt {
  id: number;
  moved: string;
}

export const keyOf = (id: number): string => `bank:${id}`;

/** Generates orders without end. Later orders end holds and undo promos that were carried out. */
export function orderBook(random: Random, workspaces: readonly number[]) {
  let last = 0;
  const holds: { of: number; workspace: number }[] = [];
  const promos: { of: number; workspace: number }[] = [];
  return {
    next(): Order {
      last += 1;
      const [id, workspace] = [last, random.pick(workspaces)];
      const amount = String(random.between(1, 5_000_000));
      const chance = random();
      if (chance < 0.2)
        return { id, workspace, do: 'deposit', into: random.pick(['card', 'onchain'] as const), amount };
      if (chance < 0.35) return { id, workspace, do: 'promo', amount };
      if (chance < 0.65) return { id, workspace, do: 'spend', amount };
      if (chance < 0.8 || holds.length === 0) return { id, workspace, do: 'hold', amount };
      const reversing = chance > 0.95 && promos.length > 0;
      const { of, workspace: its } = (reversing ? promos : holds).shift()!;
      return { id, workspace: its, do: reversing ? 'reverse' : random.pick(['release', 'capture'] as const), of };
    },
    carriedOut(order: Order, receipt: Receipt): void {
      const entry = { of: order.id, workspace: order.workspace };
      if (order.do === 'hold' && receipt.moved !== '0') holds.push(entry);
      if (order.do === 'promo') promos.push(entry);
    },
  };
}
