import pino from 'pino';
import { readConfig } from '../packages/server/src/config/config.ts';
import { ConfigError } from '../packages/server/src/config/configError.ts';
import { hasTable } from '../packages/server/src/db/hasTable.ts';
import { openPool, type Pool } from '../packages/server/src/db/pool.ts';
import { createRun, runVerification } from '../packages/server/src/ledger/runs.ts';
import { withDatabaseUrl } from './database.ts';

/** Holds the whole ledger against itself, whether the platform runs or not; 1 when it does not add up. */
if (process.argv[2] !== 'verify' || process.argv.length > 3) {
  console.error('usage: npm run ledger:verify');
  process.exit(2);
}
try {
  process.exitCode = (await verify()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function verify(): Promise<boolean> {
  const config = readConfig(process.env);
  return withDatabaseUrl(config, async (url) => {
    // One reads, the other writes down how far it is.
    const pool = openPool(url, { max: 2 });
    try {
      return await verifyIn(pool);
    } finally {
      await pool.close();
    }
  });
}

async function verifyIn(pool: Pool): Promise<boolean> {
  if (!(await hasTable(pool.pg, 'ledger_run')))
    throw new ConfigError('DATABASE_URL', 'holds no ledger of this version: start the platform');
  const run = await createRun(pool.db, 'command', null);
  const verdict = await runVerification({ db: pool.db, log: pino({ level: 'silent' }) }, run);
  if (!verdict) throw new Error(`run ${run} was carried out by somebody else`);
  const counts = Object.entries(verdict.counts).map(([name, n]) => `${n} ${name}`);
  console.log(`ledger: ${counts.join(', ')}; ${verdict.problems} problems`);
  for (const { about, id, problem } of verdict.findings) console.log(`  ${about} ${id}: ${problem}`);
  return verdict.problems === 0;
}
