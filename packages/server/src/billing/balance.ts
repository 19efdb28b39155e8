import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { perHourOf, reserveOf, resumingOf } from './spending.ts';

export interface Burn {
  /** Micro-STAGI an hour for what runs now and for what is on its way. */
  perHour: bigint;
  /** What must be left beside it, so that what cannot be stopped can leave in order. */
  reserve: bigint;
  /** What starting again all that zero stopped adds an hour. */
  resuming: bigint;
}

export async function burnOf(db: Db, workspaceId: number): Promise<Burn> {
  const { rows } =
    await sql<Burn>`select ${sql.raw(perHourOf('w'))} as "perHour", ${sql.raw(reserveOf('w'))} as reserve,
    ${sql.raw(resumingOf('w'))} as resuming from workspace w where w.id = ${workspaceId}`.execute(db);
  return rows[0] ?? { perHour: 0n, reserve: 0n, resuming: 0n };
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
