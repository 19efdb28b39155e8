import { createHash } from 'node:crypto';
import type { Db } from '../db/schema.ts';

export interface Line {
  account: string;
  /** Micro-units of the account's currency; the lines of a journal add up to zero. */
  amount: bigint;
}

/**
 * Books one journal inside the transaction of `trx`. The same `idemKey` again books nothing and answers the
 * first journal; with other lines it throws. An account that would fall below its minimum makes it throw.
 */
export async function post(
  trx: Db,
  kind: string,
  idemKey: string,
  clientId: number | null,
  lines: readonly Line[],
  meta: Record<string, unknown> = {},
): Promise<bigint> {
  if (lines.length < 2) throw new Error(`journal ${idemKey} has fewer than two lines`);
  const codes = [...new Set(lines.map((line) => line.account))];
  const accounts = await trx.selectFrom('account').select(['id', 'code']).where('code', 'in', codes).execute();
  const idOf = new Map(accounts.map((account) => [account.code, account.id]));
  const missing = codes.find((code) => !idOf.has(code));
  if (missing) throw new Error(`no account ${missing}`);

  const linesHash = createHash('sha256')
    .update(JSON.stringify(lines.map((line) => [line.account, String(line.amount)])))
    .digest();
  const journal = await trx
    .insertInto('journal')
    .values({ kind, idem_key: idemKey, client_id: clientId, lines_hash: linesHash, meta: JSON.stringify(meta) })
    .onConflict((conflict) => conflict.column('idem_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!journal) {
    const before = await trx
      .selectFrom('journal')
      .select(['id', 'lines_hash'])
      .where('idem_key', '=', idemKey)
      .executeTakeFirstOrThrow();
    if (!before.lines_hash.equals(linesHash)) throw new Error(`journal ${idemKey} was booked with other lines`);
    return before.id;
  }
  // In the order of the accounts, so that two journals never wait for each other.
  const postings = lines
    .map((line) => ({ account_id: idOf.get(line.account)!, amount: line.amount }))
    .toSorted((a, b) => Number(a.account_id - b.account_id))
    .map((posting, line) => ({ ...posting, journal_id: journal.id, line }));
  await trx.insertInto('posting').values(postings).execute();
  return journal.id;
}
