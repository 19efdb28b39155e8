import { sql } from 'kysely';
import { expect } from 'vitest';
import type { LoggingApp } from './shipped.ts';

/** Expressions that keep an engine that backtracks busy for ever, or want more memory than there is. */
export const HOSTILE = [
  '(a+)+$b',
  '(a|a)*b',
  '(a|aa)+b',
  '(.*a){12}b',
  '(a*)*b',
  '^(a?){30}a{30}b',
  '([a-z]+)*b',
  '(a+a+)+b',
  '(.*){9}b',
  'a.*a.*a.*a.*b',
  '((a{1,60}){1,60}){1,60}',
  '(x+x+)+y|(a+)+z',
];

/** Gives a container 60 MB of log, all of one letter. */
export async function storeLongLog({ app: { ctx } }: Pick<LoggingApp, 'app'>, container: number): Promise<void> {
  await sql`insert into log_line (container_id, seq, time_ns, stderr, text)
    select ${container}, n, n, false, repeat('a', 20000) from generate_series(1, 3000) n`.execute(ctx.db);
  await ctx.db
    .insertInto('log_head')
    .values({ container_id: container, last_seq: 3000n })
    .onConflict((conflict) => conflict.column('container_id').doUpdateSet({ last_seq: 3000n }))
    .execute();
}

/** Gives a container these lines. */
export async function storeLines({ app: { ctx } }: Pick<LoggingApp, 'app'>, container: number, lines: string[]) {
  await ctx.db
    .insertInto('log_line')
    .values(lines.map((text, n) => ({ container_id: container, seq: BigInt(n + 1), time_ns: 1n, stderr: false, text })))
    .execute();
  await ctx.db
    .insertInto('log_head')
    .values({ container_id: container, last_seq: BigInt(lines.length) })
    .execute();
}

/** Searches for each; expects an answer or a refusal. Answers how many milliseconds the slowest took. */
export async function searchHostile(logs: LoggingApp, container: number): Promise<number> {
  let worst = 0;
  for (const text of HOSTILE) {
    const begun = performance.now();
    const answer = await logs.query(container, { mode: 'regex', text }).catch((error: unknown) => error);
    worst = Math.max(worst, performance.now() - begun);
    if (answer instanceof Error) expect(answer, text).toMatchObject({ status: 400 });
    else expect(answer, text).toMatchObject({ isSuccess: true });
  }
  return worst;
}
