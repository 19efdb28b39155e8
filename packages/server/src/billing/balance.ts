import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { perHourOf } from './spending.ts';

/** Micro-STAGI an hour for what runs now and for what is on its way. */
export async function burnPerHour(db: Db, workspaceId: number): Promise<bigint> {
  const { rows } = await sql<{
    sum: bigint;
  }>`select ${sql.raw(perHourOf('w.id'))} as sum from workspace w where w.id = ${workspaceId}`.execute(db);
  return rows[0]?.sum ?? 0n;
}

/** Days the balance lasts at the current rate; `null` while nothing is spent. */
export function daysLeft({
  balance,
  perHour,
  exhausted,
}: {
  balance: bigint;
  perHour: bigint;
  exhausted: boolean;
}): number | null {
  if (exhausted) return 0;
  if (perHour === 0n) return null;
  return Number((balance * 1000n) / (perHour * 24n)) / 1000;
}
