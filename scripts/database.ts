import type { Config } from '../packages/server/src/config/config.ts';
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded.ts';
import { openPool, type Pool } from '../packages/server/src/db/pool.ts';
import { refuseSecondDatabase } from '../packages/server/src/installation/open.ts';

/**
 * Runs `work` with the URL of the platform's database, whether the platform runs or not. `mayBeNew`: an embedded one is
 * made where there is none.
 */
export async function withDatabaseUrl<T>(
  config: Config,
  work: (url: string) => Promise<T>,
  { mayBeNew = false } = {},
): Promise<T> {
  if (config.databaseUrl) return work(config.databaseUrl);
  if (!mayBeNew) refuseSecondDatabase(config);
  const log = { info: () => {}, warn: (line: string) => console.error(line) };
  const embedded = await startEmbeddedPostgres({ dataDir: `${config.dataDir}/postgres`, log });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

/** Runs `work` with one connection to a database. */
export async function withPool<T>(databaseUrl: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(databaseUrl, { max: 1 });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}
