import { createHash } from 'node:crypto';
import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import pg from 'pg';
import type { JournalKind } from '../db/journalKinds.ts';
import type { Db } from '../db/schema.ts';

export interface Line {
  account: string;
  /** Micro-units of the account's currency; the lines of a journal add up to zero. */
  amount: Micro;
}

/**
 * Books one journal inside the transaction of `trx`, in one round trip. The same `idemKey` again books nothing and
 * answers the first journal; with other lines it throws. Throws where the database refuses: lines that do not balance,
 * accounts that its kind has nothing to do with, a balance below its minimum (`isInsufficientFunds`).
 */
export function post(
  trx: Db,
  kind: JournalKind,
  idemKey: string,
  workspaceId: number | null,
  lines: readonly Line[],
  meta: Record<string, unknown> = {},
): Promise<bigint> {
  return book(trx, { kind, idemKey, workspaceId, lines, meta, reverses: null });
}

/**
 * Undoes a whole journal by one of its own; a second time it answers the first. A reversal is never reversed, and of
 * holds and use only their own kinds undo something.
 */
export async function reverse(trx: Db, journalId: bigint, reason: string): Promise<bigint> {
  const { client_id: workspaceId } = await trx
    .selectFrom('journal')
    .select('client_id')
    .where('id', '=', journalId)
    .executeTakeFirstOrThrow();
  const lines = await trx
    .selectFrom('posting')
    .innerJoin('account', 'account.id', 'posting.account_id')
    .select(['account.code', 'posting.amount'])
    .where('posting.journal_id', '=', journalId)
    .orderBy('posting.line')
    .execute();
  return book(trx, {
    kind: 'reversal',
    idemKey: `reversal:${journalId}`,
    workspaceId,
    lines: lines.map(({ code, amount }) => ({ account: code, amount: asMicro(-amount) })),
    meta: { reason },
    reverses: journalId,
  });
}

interface Entry {
  kind: JournalKind | 'reversal';
  idemKey: string;
  workspaceId: number | null;
  lines: readonly Line[];
  meta: Record<string, unknown>;
  reverses: bigint | null;
}

async function book(trx: Db, { kind, idemKey, workspaceId, lines, meta, reverses }: Entry): Promise<bigint> {
  if (lines.length < 2) throw new Error(`journal ${idemKey} has fewer than two lines`);
  // The order of the codes is that of the hash, which the database makes of the lines once more.
  const sorted = lines.toSorted((a, b) => (a.account < b.account ? -1 : a.account > b.account ? 1 : 0));
  const hash = createHash('sha256')
    .update(sorted.map(({ account, amount }) => `${account}:${amount}\n`).join(''))
    .digest();
  // No index is named at the conflict: of two reversals at one moment the second meets the first in either of two.
  const { rows } = await sql<{ journal_id: bigint }>`
    with given as (
      select ordinality - 1 as line, code, amount
      from unnest(${sorted.map(({ account }) => account)}::text[], ${sorted.map(({ amount }) => String(amount))}::bigint[])
        with ordinality as given (code, amount, ordinality)
    ), booked as (
      insert into journal (kind, idem_key, lines_hash, line_count, client_id, reverses_id, meta)
      values (${kind}, ${idemKey}, ${hash}, ${sorted.length}, ${workspaceId}, ${reverses}, ${JSON.stringify(meta)}::jsonb)
      on conflict do nothing returning id
    )
    insert into posting (journal_id, line, account_id, amount)
    select booked.id, given.line, account.id, given.amount
    from booked, given join accounts_named(${sorted.map((line) => line.account)}::text[]) account using (code)
    order by given.line
    returning journal_id`.execute(trx);
  if (rows[0]) return rows[0].journal_id;

  const before = await trx
    .selectFrom('journal')
    .select(['id', 'lines_hash'])
    .where('idem_key', '=', idemKey)
    .executeTakeFirst();
  if (!before) throw new Error(`journal ${idemKey} names no account that exists`);
  if (!before.lines_hash.equals(hash)) throw new Error(`journal ${idemKey} was booked with other lines`);
  return before.id;
}

/** Whether the database refused a journal because an account would fall below its minimum. */
export function isInsufficientFunds(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.table === 'account';
}

const TRIES = 5;
/** A deadlock, and a transaction that another one got in the way of. */
const WORTH_ANOTHER_TRY = new Set(['40001', '40P01']);

/** Runs `work` in a transaction of its own, again when it lost a race, at most five times; or in the one `db` is. */
export async function inLedgerTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db);
  for (let tried = 1; ; tried += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      const isRace = error instanceof pg.DatabaseError && WORTH_ANOTHER_TRY.has(error.code ?? '');
      if (!isRace || tried === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2 ** tried * 10 * (0.5 + Math.random())));
    }
  }
}
