import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** The chain of the operators' log; every other chain has the id of its workspace. */
export const PLATFORM_CHAIN = 0;

export interface Verdict {
  checked: number;
  /** The first entry that is missing, changed or inserted. */
  broken: number | null;
  /** Where to continue; null when the end was reached. */
  next: number | null;
}

/**
 * Verifies up to `limit` entries after `after`: each against its own hash and its predecessor's, the first against the
 * stored hash of the last deleted entry, the last against the chain's head. Entries are only appended, so that a chain can
 * be verified in parts.
 */
export async function verifyChain(db: Db, chain: number, after: number | null, limit: number): Promise<Verdict> {
  const { rows: heads } = await sql<{ first: number; first_prev: Buffer; last: number; hash: Buffer }>`
    select first_seq::int as first, first_prev_hash as first_prev, seq::int as last, hash
    from audit_head where chain = ${chain}`.execute(db);
  const head = heads[0];
  const start = after ?? 0;
  const { rows } = await sql<{ seq: number; prev: Buffer; hash: Buffer; whole: boolean }>`
    select seq::int as seq, prev_hash as prev, hash, hash = audit_hash(audit) as whole
    from audit where chain = ${chain} and seq > ${start} order by seq limit ${limit}`.execute(db);
  if (!head) return { checked: 0, broken: rows[0]?.seq ?? null, next: null };

  const behind = Math.max(start, head.first - 1);
  let expected = behind === head.first - 1 ? head.first_prev : await hashOf(db, chain, behind);
  let seq = behind;
  for (const row of rows) {
    // Appended after the head was read.
    if (row.seq > head.last) break;
    seq += 1;
    if (row.seq !== seq || !row.whole || !expected?.equals(row.prev))
      return { checked: seq - behind - 1, broken: Math.min(seq, row.seq), next: null };
    expected = row.hash;
  }
  const checked = seq - behind;
  if (seq === head.last) return { checked, broken: expected?.equals(head.hash) ? null : seq, next: null };
  return rows.length < limit ? { checked, broken: seq + 1, next: null } : { checked, broken: null, next: seq };
}

async function hashOf(db: Db, chain: number, seq: number): Promise<Buffer | null> {
  const { rows } = await sql<{ hash: Buffer }>`select hash from audit where chain = ${chain} and seq = ${seq}`.execute(
    db,
  );
  return rows[0]?.hash ?? null;
}
