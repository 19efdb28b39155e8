import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { livesIn } from '@stagi/server/src/db/embeddedProcess.ts';
import { proxyDatabase } from '@stagi/server/src/testing/databaseProxy.ts';
import { type Person, sender, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import pg from 'pg';
import { writeAsMany } from './writers.ts';

const PEOPLE = 6;
const PATIENCE_MS = 60_000;

export interface OutageReport {
  /** From the moment PostgreSQL answers again to the platform's first answer, and to its first event. */
  backMs: number[];
  eventsMs: number[];
  answered: number;
  refused: number;
  slowestRefusalMs: number;
  /** Things that people asked to be made, and those that are there. */
  asked: number;
  stored: number;
  wrong: string[];
  processExits: number;
}

interface Run {
  platform: Platform;
  /** Waits until calls are answered and events told again, counting from now. */
  comesBack(): Promise<void>;
}

/**
 * People use a platform without a pause while the PostgreSQL that it runs is killed with SIGKILL, `kills` times; then
 * another one, whose database is taken away for `awayMs`, and frozen for as long.
 */
export async function runOutage(
  { kills, awayMs }: { kills: number; awayMs: number },
  random: () => number,
  say: (line: string) => void,
): Promise<OutageReport> {
  const report: OutageReport = {
    backMs: [],
    eventsMs: [],
    answered: 0,
    refused: 0,
    slowestRefusalMs: 0,
    asked: 0,
    stored: 0,
    wrong: [],
    processExits: 0,
  };
  await killing();
  await takingAway();
  return report;

  async function killing(): Promise<void> {
    const platform = await spawnPlatform({ LOG_LEVEL: 'warn' });
    const dataDir = join(platform.dataDir, 'postgres');
    // It is the platform's: here it is only shared.
    const { url } = await startEmbeddedPostgres({ dataDir, log: quiet });
    await underUse(platform, url, async (run) => {
      for (let n = 1; n <= kills; n += 1) {
        await pause(300 + random() * 1_200);
        const cluster = join(dataDir, 'cluster');
        const pid = Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10);
        process.kill(pid, 'SIGKILL');
        await until(() => !livesIn(cluster, pid), 'the killed PostgreSQL is gone');
        await until(() => answers(url), 'PostgreSQL is back');
        await run.comesBack();
        say(`kill ${n} of ${kills}: ${lately()}`);
      }
    });
  }

  async function takingAway(): Promise<void> {
    const dataDir = mkdtempSync(join(tmpdir(), 'stagi-away-'));
    const postgres = await startEmbeddedPostgres({ dataDir, log: quiet });
    const proxy = await proxyDatabase(postgres.url);
    try {
      const platform = await spawnPlatform({ DATABASE_URL: proxy.url, LOG_LEVEL: 'warn' });
      await underUse(platform, postgres.url, async (run) => {
        for (const [name, begin] of [
          ['away', proxy.cut],
          ['frozen', proxy.freeze],
        ] as const) {
          await pause(500);
          begin();
          await pause(awayMs);
          proxy.restore();
          await run.comesBack();
          say(`${name} for ${awayMs / 1000} s: ${lately()}`);
        }
      });
    } finally {
      await proxy.close();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  async function underUse(platform: Platform, databaseUrl: string, disturb: (run: Run) => Promise<void>) {
    try {
      const people: Person[] = [];
      for (let n = 0; n < PEOPLE; n += 1)
        people.push(await signUp(platform.url, sender(platform.url), { name: 'Person 0', email: `p${n}@example.com` }));
      const events = hearEvents(platform.url, people[0]!);
      const use = writeAsMany(platform.url, people);
      await until(() => use.ledger.lastAnswerAt > 0, 'people use the platform');
      const { pid } = platform;
      await disturb({
        platform,
        async comesBack() {
          const since = performance.now();
          await until(() => use.ledger.lastAnswerAt > since, 'calls are answered again');
          report.backMs.push(use.ledger.lastAnswerAt - since);
          await until(() => events.lastAt() > since, 'events are told again');
          report.eventsMs.push(events.lastAt() - since);
        },
      });
      const { asked, stored } = await use.stop(databaseUrl);
      if (platform.ended() !== null || platform.pid !== pid) report.processExits += 1;
      report.asked += asked;
      report.stored += stored;
      report.answered += use.ledger.answered;
      report.refused += use.ledger.refused;
      report.slowestRefusalMs = Math.max(report.slowestRefusalMs, use.ledger.slowestRefusalMs);
      report.wrong.push(...use.ledger.wrong);
      await events.stop();
    } catch (error) {
      console.error(platform.log().slice(-4_000));
      throw error;
    } finally {
      await platform.remove();
    }
  }

  function lately(): string {
    return `calls back after ${report.backMs.at(-1)?.toFixed(0)} ms, events after ${report.eventsMs.at(-1)?.toFixed(0)} ms`;
  }
}

const quiet = { info: () => {}, warn: () => {} };

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; !(await holds()); await pause(5)) {
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s in vain until ${what}`);
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    // It does not yet.
    return false;
  } finally {
    await client.end();
  }
}

/** What a screen does: it follows the event stream, and opens another when that ends. */
function hearEvents(url: string, person: Person): { lastAt(): number; stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let lastAt = 0;
  const follow = async (): Promise<void> => {
    const { ticket } = await person.client(api.auth.streamTicket, {});
    const response = await fetch(`${url}/frontend-api/events?ticket=${ticket}`, { signal });
    if (!response.ok) return;
    for await (const chunk of response.body!) if (Buffer.from(chunk).includes('data: ')) lastAt = performance.now();
  };
  const following = (async () => {
    while (!signal.aborted) {
      // Whatever ends a stream, the next one tells; that none tells in time is what the run would find.
      await follow().catch(() => {});
      await pause(500, null, { signal }).catch(() => {});
    }
  })();
  return {
    lastAt: () => lastAt,
    async stop() {
      stopping.abort();
      await following;
    },
  };
}
