import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { verifyChain } from './verifyChain.ts';

export interface BrokenChain {
  chain: number;
  /** The first entry that is missing, changed or inserted. */
  entry: number;
}

/** What was verified since the last part. */
export interface VerifiedPart {
  /** Every chain up to this one has been verified. */
  behind: number;
  chains: number;
  entries: number;
  broken: BrokenChain[];
}

/** One statement's share: well within the statement timeout of five seconds. */
const AT_ONCE = { entries: 10_000, chains: 2_000 };
const LAST_CHAIN = 2 ** 31 - 1;

/** The number of chains after one and of their entries, by their heads. */
export async function countChainsAfter(db: Db, behind: number): Promise<{ chains: number; entries: number }> {
  const { rows } = await sql<{ chains: number; entries: string }>`
    select count(*)::int as chains, coalesce(sum(greatest(seq - first_seq + 1, 0)), 0)::text as entries
    from audit_head where chain > ${behind}`.execute(db);
  return { chains: rows[0]?.chains ?? 0, entries: Number(rows[0]?.entries ?? 0) };
}

/**
 * Verifies every chain after `behind`, as `verifyChain` does for one, and yields its progress part by part. There are as
 * many chains as workspaces: short ones are verified in batches.
 */
export async function* verifyAllChains(db: Db, behind: number, atOnce = AT_ONCE): AsyncGenerator<VerifiedPart> {
  for (let done = behind; done < LAST_CHAIN; ) {
    const { upTo, long } = await nextBatch(db, done, atOnce);
    yield await verifyBatch(db, done, upTo);
    done = upTo;
    if (long !== null) {
      yield* verifyLongChain(db, long, atOnce.entries);
      done = long;
    }
  }
}

/** The last chain of the next batch, and the chain after it if it is too long for a batch. */
async function nextBatch(db: Db, done: number, atOnce: typeof AT_ONCE): Promise<{ upTo: number; long: number | null }> {
  const { rows } = await sql<{ chain: number; length: number }>`
    select chain, least(greatest(seq - first_seq + 1, 0), ${atOnce.entries + 1})::int as length
    from audit_head where chain > ${done} order by chain limit ${atOnce.chains}`.execute(db);
  let entries = 0;
  let upTo = done;
  for (const { chain, length } of rows) {
    if (length > atOnce.entries) return { upTo: chain - 1, long: chain };
    entries += length;
    if (entries > atOnce.entries) return { upTo, long: null };
    upTo = chain;
  }
  return { upTo: rows.length < atOnce.chains ? LAST_CHAIN : upTo, long: null };
}

/** One statement, and so one snapshot of entries and heads. */
async function verifyBatch(db: Db, behind: number, upTo: number): Promise<VerifiedPart> {
  const { rows } = await sql<{ chains: number; entries: number; broken: BrokenChain[] }>`
    with head as (select * from audit_head where chain > ${behind} and chain <= ${upTo}),
    entry as (
      select a.chain, a.seq, a.hash, a.prev_hash, audit_hash(a) = a.hash as is_whole,
        coalesce(lag(a.hash) over of_chain, h.first_prev_hash) as prev_due,
        coalesce(lag(a.seq) over of_chain + 1, h.first_seq, 0) as seq_due,
        lead(a.seq) over of_chain is null as is_last
      from audit a left join head h on h.chain = a.chain
      where a.chain > ${behind} and a.chain <= ${upTo}
      window of_chain as (partition by a.chain order by a.seq)),
    kept as (
      select chain, count(*) as entries, max(seq) as last, (array_agg(hash) filter (where is_last))[1] as last_hash,
        min(least(seq, seq_due)) filter (where not is_whole or seq <> seq_due or prev_hash is distinct from prev_due)
          as misfit
      from entry group by chain),
    verdict as (
      select chain, coalesce(k.entries, 0) as entries, h.chain is not null as has_end,
        case
          when h.chain is null then (select min(seq) from entry e where e.chain = k.chain)
          when k.misfit is not null then k.misfit
          when coalesce(k.last, h.first_seq - 1) <> h.seq then least(coalesce(k.last, h.first_seq - 1), h.seq) + 1
          when coalesce(k.last_hash, h.first_prev_hash) <> h.hash then h.seq
        end as broken
      from kept k full join head h using (chain))
    select count(*) filter (where has_end)::int as chains, coalesce(sum(entries), 0)::int as entries,
      coalesce(json_agg(json_build_object('chain', chain, 'entry', broken) order by chain)
        filter (where broken is not null), '[]') as broken
    from verdict`.execute(db);
  return { behind: upTo, ...(rows[0] ?? { chains: 0, entries: 0, broken: [] }) };
}

async function* verifyLongChain(db: Db, chain: number, atOnce: number): AsyncGenerator<VerifiedPart> {
  for (let after: number | null = null; ; ) {
    const { checked, broken, next } = await verifyChain(db, chain, after, atOnce);
    const isOver = next === null;
    yield {
      behind: isOver ? chain : chain - 1,
      chains: isOver ? 1 : 0,
      entries: checked,
      broken: broken === null ? [] : [{ chain, entry: broken }],
    };
    if (isOver) return;
    after = next;
  }
}
