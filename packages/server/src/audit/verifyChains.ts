import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { verifyChain } from './verify.ts';

export interface Found {
  chain: number;
  /** The first entry that is missing, changed or put in between. */
  entry: number;
}

/** What was held against its hashes since the last time this was told. */
export interface Part {
  /** Every chain up to this one has been looked at. */
  behind: number;
  chains: number;
  entries: number;
  broken: Found[];
}

/** As much as one statement does well within its five seconds. */
const AT_ONCE = { entries: 10_000, chains: 2_000 };
const LAST_CHAIN = 2 ** 31 - 1;

/** What all chains behind one have in them, by what is kept of their ends. */
export async function chainsBehind(db: Db, behind: number): Promise<{ chains: number; entries: number }> {
  const { rows } = await sql<{ chains: number; entries: string }>`
    select count(*)::int as chains, coalesce(sum(greatest(seq - first_seq + 1, 0)), 0)::text as entries
    from audit_head where chain > ${behind}`.execute(db);
  return { chains: rows[0]?.chains ?? 0, entries: Number(rows[0]?.entries ?? 0) };
}

/**
 * Holds every chain behind one against its hashes, as `verifyChain` does a single one, and tells part by part how far it
 * has come. There are as many chains as workspaces: those that are short are read together.
 */
export async function* verifyChains(db: Db, behind: number, atOnce = AT_ONCE): AsyncGenerator<Part> {
  for (let done = behind; done < LAST_CHAIN; ) {
    const { upTo, long } = await nextOf(db, done, atOnce);
    yield await verifyTogether(db, done, upTo);
    done = upTo;
    if (long !== null) {
      yield* verifyLong(db, long, atOnce.entries);
      done = long;
    }
  }
}

/** How far chains are read together from here on, and the one behind them that is too long for that. */
async function nextOf(db: Db, done: number, atOnce: typeof AT_ONCE): Promise<{ upTo: number; long: number | null }> {
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

/** One statement, and so one moment: what is written meanwhile is neither in the entries nor in the ends. */
async function verifyTogether(db: Db, behind: number, upTo: number): Promise<Part> {
  const { rows } = await sql<{ chains: number; entries: number; broken: Found[] }>`
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

async function* verifyLong(db: Db, chain: number, atOnce: number): AsyncGenerator<Part> {
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
