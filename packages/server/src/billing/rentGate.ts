import { toDecimal } from '@stagi/contract/money.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockAvailable } from './accounts.ts';
import { burnPerHour } from './balance.ts';

/** Renting needs one hour of everything that runs plus the new machine; checked under the accounts' row lock. */
export async function requireOneHour(trx: Db, workspaceId: number, addedPerHour: bigint): Promise<void> {
  const balance = await lockAvailable(trx, workspaceId);
  const needed = (await burnPerHour(trx, workspaceId)) + addedPerHour;
  if (balance < needed) {
    throw refused(
      'The balance must cover an hour of everything that runs: {{needed}} STAGI are needed, {{balance}} are there',
      {
        needed: toDecimal(needed),
        balance: toDecimal(balance),
      },
    );
  }
}
