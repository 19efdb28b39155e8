import type { RentedStatus } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import pino from 'pino';
import { expect } from 'vitest';
import { inTransaction } from '../../db/pool.ts';
import type { Db } from '../../db/schema.ts';
import { transitionInstance } from '../../instances/status.ts';
import { createTestDatabase } from '../../testing/database.ts';
import { type ClockedDatabase, clockDatabase } from '../meteredWorkspace.ts';

/** Microseconds. */
export const SECOND = 1_000_000;
export const quiet = pino({ level: 'silent' });

/** A ledger and the servers that are metered into it, on a clock that stands still until it is set. */
export interface MeteredBooks extends ClockedDatabase {
  /** Moves a server at a moment of the clock. */
  at(micros: number, id: number, status: RentedStatus, machineState?: string | null): Promise<void>;
  /** What a workspace has, by account. */
  balanceOf(workspaceId: number): Promise<Record<string, bigint>>;
  segmentsOf(instanceId: number): Promise<{ rate: string; seconds: number | null; net: bigint; settled: boolean }[]>;
  /** The journals, the lines beside them and the accounts tell one story. */
  expectOneStory(): Promise<void>;
}

export async function openMeteredBooks(): Promise<MeteredBooks> {
  const clocked = await clockDatabase(await createTestDatabase());
  const { db } = clocked;
  return {
    ...clocked,
    async at(micros, id, status, machineState) {
      await clocked.setClock(micros);
      await inTransaction(db, async (trx) => {
        if (machineState !== undefined)
          await sql`update instance set machine_state = ${machineState}, running_seen_at =
            case when ${machineState === 'running'} then metering_clock() else running_seen_at end where id = ${id}`.execute(
            trx,
          );
        await transitionInstance({ log: quiet }, trx, id, status, {});
      });
    },
    async balanceOf(workspaceId) {
      const { rows } = await sql<{ kind: string; balance: bigint }>`
        select split_part(code, ':', 3) as kind, balance from account where client_id = ${workspaceId}`.execute(db);
      return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]));
    },
    async segmentsOf(instanceId) {
      const { rows } = await sql<{ rate: string; seconds: number | null; net: bigint; settled: boolean }>`
        select rate, extract(epoch from ended_at - started_at)::float8 as seconds,
          charged + uncollected - refunded - forgiven as net, settled
        from segment where kind = 'instance' and resource_id = ${instanceId} order by id`.execute(db);
      return rows;
    },
    expectOneStory: () => expectOneStory(db),
  };
}

async function expectOneStory(db: Db): Promise<void> {
  const { rows } = await sql<Record<string, bigint>>`select
    (select count(*) from (
      select j.id from journal j left join segment_charge c on c.journal_id = j.id where j.kind = 'usage'
      group by j.id having coalesce(sum(c.credit + c.card + c.onchain + c.uncollected), 0) <>
        (select sum(p.amount) from posting p join account a on a.id = p.account_id where p.journal_id = j.id and a.code like 'revenue:%')
    ) as odd) as odd_journals,
    (select count(*) from segment s where charged <> coalesce((select sum(credit + card + onchain) from segment_charge where segment_id = s.id), 0)
      or uncollected <> coalesce((select sum(uncollected) from segment_charge where segment_id = s.id), 0)
      or refunded + forgiven <> coalesce((select credit + card + onchain + forgiven from segment_refund where segment_id = s.id), 0)) as odd_segments,
    (select coalesce(sum(charged + uncollected - refunded - forgiven), 0)::bigint from segment)
      - (select coalesce(sum(balance), 0)::bigint from account where code like 'revenue:usage:%') as revenue_off,
    (select coalesce(sum(uncollected - forgiven), 0)::bigint from segment) + (select balance from account where code = 'writeoff') as writeoff_off,
    (select count(*) from account where min_balance is not null and balance < 0) as negative,
    (select coalesce(sum(charged - refunded), 0)::bigint from segment) - (select coalesce(sum(charged - refunded), 0)::bigint from usage_day) as days_off,
    (select count(*) from segment_charge) as charges`.execute(db);
  const { charges, ...off } = rows[0]!;
  expect(Object.entries(off).filter(([, value]) => value !== 0n)).toEqual([]);
  expect(charges! > 0n).toBe(true);
}
