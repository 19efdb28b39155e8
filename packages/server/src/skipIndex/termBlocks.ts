import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { END, eachTerm } from './terms.ts';

/** How many blocks `skip_term` tells apart. */
export const BLOCKS_MOST = 1_024;
/** Terms of one statement. */
const AT_ONCE = 5_000;

/** Which blocks have which terms. */
export type TermBlocks = Map<number, Buffer>;

/** Block `no` has a row with this in its `search` column. */
export function learn(known: TermBlocks, no: number, search: string): void {
  eachTerm(search + END, (term) => {
    const blocks = known.get(term) ?? Buffer.alloc(BLOCKS_MOST / 8);
    blocks[no >> 3]! |= 128 >> (no & 7);
    known.set(term, blocks);
  });
}

/** Beside what the index knows already. */
export async function store(trx: Db, indexId: number, known: TermBlocks): Promise<void> {
  const all = [...known];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE);
    const bits = some.map(([, blocks]) => `x${blocks.toString('hex')}`);
    await sql`insert into skip_term (skip_index_id, term, blocks)
      select ${indexId}, term, bits::bit(${sql.lit(BLOCKS_MOST)})
      from unnest(${some.map(([term]) => term)}::int[], ${bits}::text[]) as told (term, bits)
      on conflict (skip_index_id, term) do update set blocks = skip_term.blocks | excluded.blocks
        where skip_term.blocks & excluded.blocks <> excluded.blocks`.execute(trx);
  }
}
