import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { proxyDatabase } from '@stagi/server/src/testing/databaseProxy.ts';
import { killPostgres } from '@stagi/server/src/testing/killPostgres.ts';
import { spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { emptyLoadReport, type LoadReport, lately, runUnderLoad } from './load.ts';

/**
 * Puts a platform under load while its PostgreSQL is killed with SIGKILL, `kills` times; then another platform, whose
 * database is unreachable for `awayMs`, and frozen for as long.
 */
export async function runOutage(
  { kills, awayMs }: { kills: number; awayMs: number },
  random: () => number,
  say: (line: string) => void,
): Promise<LoadReport> {
  const report = emptyLoadReport();
  await killing();
  await takingAway();
  return report;

  async function killing(): Promise<void> {
    const platform = await spawnPlatform({ LOG_LEVEL: 'warn' });
    const dataDir = join(platform.dataDir, 'postgres');
    // Attaches to the PostgreSQL that the platform has started.
    const { url } = await startEmbeddedPostgres({ dataDir, log: quiet });
    await runUnderLoad(report, platform, url, async (run) => {
      for (let n = 1; n <= kills; n += 1) {
        await pause(300 + random() * 1_200);
        await killPostgres(dataDir, url);
        await run.comesBack();
        say(`kill ${n} of ${kills}: ${lately(report)}`);
      }
    });
  }

  async function takingAway(): Promise<void> {
    const dataDir = mkdtempSync(join(tmpdir(), 'stagi-away-'));
    const postgres = await startEmbeddedPostgres({ dataDir, log: quiet });
    const proxy = await proxyDatabase(postgres.url);
    try {
      const platform = await spawnPlatform({ DATABASE_URL: proxy.url, LOG_LEVEL: 'warn' });
      await runUnderLoad(report, platform, postgres.url, async (run) => {
        for (const [name, begin] of [
          ['away', proxy.cut],
          ['frozen', proxy.freeze],
        ] as const) {
          await pause(500);
          begin();
          await pause(awayMs);
          proxy.restore();
          await run.comesBack();
          say(`${name} for ${awayMs / 1000} s: ${lately(report)}`);
        }
      });
    } finally {
      await proxy.close();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
}

const quiet = { info: () => {}, warn: () => {} };
