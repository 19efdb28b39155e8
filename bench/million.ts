import pg from 'pg';

/**
 * Fills tables with a million rows: without triggers, and with indexes created at the end, which takes a fraction of
 * the time.
 */
export async function fillQuickly(
  url: string,
  tables: readonly string[],
  statements: readonly string[],
): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c session_replication_role=replica' });
  await client.connect();
  try {
    await client.query("set maintenance_work_mem = '512MB'");
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
        where indrelid = any($1::regclass[]) and not indisunique`,
      [tables],
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    for (const statement of statements) await client.query(statement);
    for (const { definition } of indexes) await client.query(definition);
    for (const table of tables) await client.query(`vacuum analyze ${table}`);
    // So that the measurements of lists do not include the writes of this fill.
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

const ROUNDS = 30;
const P95_MOST_MS = 300;

/**
 * Reads the first page of a list repeatedly, prints how long that took, and returns a message when it is over the
 * limit.
 */
export async function firstPages(
  name: string,
  read: () => Promise<{ totalCount: number; isMore?: true }>,
): Promise<string[]> {
  const took: number[] = [];
  // The first read fills the caches for later ones.
  const { totalCount, isMore } = await read();
  for (let round = 0; round < ROUNDS; round += 1) took.push(await timed(read));
  const p95 = percentile(took, 0.95);
  const total = `${totalCount}${isMore ? '+' : ''} rows`;
  console.log(
    `${name}: ${total}, n = ${took.length}, p50 ${percentile(took, 0.5).toFixed(1)}, p95 ${p95.toFixed(1)} ms`,
  );
  return p95 <= P95_MOST_MS ? [] : [`${name}: p95 ${p95.toFixed(0)} ms of ${P95_MOST_MS}`];
}
