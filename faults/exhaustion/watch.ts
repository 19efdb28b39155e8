import type { Db } from '@stagi/server/src/db/schema.ts';
import { sql } from 'kysely';

/**
 * Makes the database record the lowest balance of each account of a workspace, in the transactions that change it.
 * Drops the check against negative balances: the run must see what the platform does without it.
 */
export async function watchBalances(db: Db): Promise<void> {
  await sql`alter table account drop constraint account_check`.execute(db);
  await sql`create table least_held (account_id bigint primary key, balance bigint not null, changes bigint not null)`.execute(
    db,
  );
  await sql`create function watch_balance() returns trigger language plpgsql as $$
    begin
      insert into least_held values (new.id, new.balance, 1)
      on conflict (account_id) do update set balance = least(least_held.balance, excluded.balance),
        changes = least_held.changes + 1;
      return null;
    end $$`.execute(db);
  await sql`create trigger watch after update of balance on account for each row
    when (new.client_id is not null) execute function watch_balance()`.execute(db);
}

/** The lowest balance of all, and the number of changes. */
export async function leastHeld(db: Db): Promise<{ least: bigint; balanceChanges: bigint }> {
  const { rows } = await sql<{ least: bigint; balanceChanges: bigint }>`
    select coalesce(min(balance), 0) as least, coalesce(sum(changes), 0)::bigint as "balanceChanges" from least_held`.execute(
    db,
  );
  return rows[0]!;
}
