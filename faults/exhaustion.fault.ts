/**
 * Balances run out with 200 servers at sixty times their price, while workers are killed at random moments. Every stop
 * is accepted and every interval closed within 15 s (p99) of the moment computed from prices and times. No balance
 * falls below zero, and what could not be collected is written off. `--n=` servers, `--seed=`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { migrate } from '@stagi/server/src/db/migrate.ts';
import { ordersFor } from './exhaustion/orders.ts';
import { runExhaustion } from './exhaustion/run.ts';
import { reportExhaustion } from './exhaustionReport.ts';
import { newSeed, option, seeded } from './random.ts';

const WITHIN_MS = 15_000;
const seed = newSeed();
console.log(`exhaustion: seed ${seed}`);
const folder = mkdtempSync(join(tmpdir(), 'stagi-exhaustion-'));
const postgres = await startEmbeddedPostgres({
  dataDir: folder,
  settings: { max_connections: '200' },
  log: { info() {}, warn: console.warn },
});
try {
  await migrate(postgres.url);
  const report = await runExhaustion(
    postgres,
    {
      orders: ordersFor(option('n', 200)),
      workers: 4,
      killEveryMs: [200, 1_500],
      ambushes: 4,
      lastsMs: [8_000, 30_000],
      creditAfterMs: [-2_000, 8_000],
      env: {},
    },
    seeded(seed),
    console.log,
  );
  const failures = reportExhaustion(report, WITHIN_MS);
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
