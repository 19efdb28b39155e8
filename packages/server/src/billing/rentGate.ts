import { toDecimal } from '@stagi/contract/money.ts';
import { HOURS_PER_MONTH } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import type { Db } from '../db/schema.ts';
import { refused, workspaceGone } from '../http/errors.ts';
import { burnRateOf } from './burnRate.ts';
import { lockAvailableBalance } from './spendOrder.ts';

interface Added {
  /** Micro-STAGI an hour more than now. */
  pricePerHour: bigint;
  /** What its cloud cannot stop needs half an hour more, to leave in order. */
  canStop: boolean;
}

/**
 * Renting needs one hour of everything that runs plus the new machine, and the reserve of those that cannot be stopped;
 * checked under the accounts' row lock. Answers the balance.
 */
export async function requireOneHour(trx: Db, workspaceId: number, ...added: readonly Added[]): Promise<bigint> {
  const balance = await lockAvailableBalance(trx, workspaceId);
  await requireOpen(trx, workspaceId);
  const { perHour, reserve } = await burnRateOf(trx, workspaceId);
  const more = added.reduce((all, one) => all + one.pricePerHour + (one.canStop ? 0n : one.pricePerHour / 2n), 0n);
  const needed = perHour + reserve + more;
  if (balance < needed) {
    throw refused(
      text('The balance must cover an hour of everything that runs: {{needed}} STAGI needed, {{balance}} available'),
      {
        needed: toDecimal(needed),
        balance: toDecimal(balance),
      },
    );
  }
  return balance;
}

const HOURS_PER_DAY = 24n;

/**
 * A storage, or what it grows by, needs its first day in the balance, beside an hour of everything that runs and the
 * reserves; checked under the accounts' row lock. Answers the balance.
 */
export async function requireFirstDay(trx: Db, workspaceId: number, pricePerMonth: bigint): Promise<bigint> {
  const balance = await lockAvailableBalance(trx, workspaceId);
  await requireOpen(trx, workspaceId);
  const { perHour, reserve } = await burnRateOf(trx, workspaceId);
  const month = BigInt(HOURS_PER_MONTH);
  const firstDay = (pricePerMonth * HOURS_PER_DAY + month - 1n) / month;
  const needed = perHour + reserve + firstDay;
  if (balance < needed)
    throw refused(
      text(
        'The balance must cover the first day of the storage and an hour of everything that runs: {{needed}} STAGI needed, {{balance}} available',
      ),
      { needed: toDecimal(needed), balance: toDecimal(balance) },
    );
  return balance;
}

/** Whoever disables a workspace holds its accounts: what was asked for a moment before does not begin after it. */
async function requireOpen(trx: Db, workspaceId: number): Promise<void> {
  const open = await trx
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', workspaceId)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  if (!open) throw workspaceGone();
}
