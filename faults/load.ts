import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import type { Platform } from '@stagi/server/src/testing/platform.ts';
import { writeConcurrently } from './writers.ts';

const PEOPLE = 6;
const PATIENCE_MS = 60_000;

export interface LoadReport {
  /** From the end of each disturbance to the platform's first answer, and to its first event. */
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

export const emptyLoadReport = (): LoadReport => ({
  backMs: [],
  eventsMs: [],
  answered: 0,
  refused: 0,
  slowestRefusalMs: 0,
  asked: 0,
  stored: 0,
  wrong: [],
  processExits: 0,
});

/**
 * Disturbs a platform while people use it without a pause, adds what they saw to the report, and removes the platform.
 * `databaseUrl` is a way to its database that the disturbance does not close.
 */
export async function runUnderLoad(
  report: LoadReport,
  platform: Platform,
  databaseUrl: string,
  disturb: (run: Run) => Promise<void>,
): Promise<void> {
  try {
    const people: Person[] = [];
    for (let n = 0; n < PEOPLE; n += 1)
      people.push(
        await signUp(platform.url, httpSender(platform.url), { name: 'Person 0', email: `p${n}@example.com` }),
      );
    const events = hearEvents(platform.url, people[0]!);
    const use = writeConcurrently(platform.url, people);
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

export const lately = ({ backMs, eventsMs }: LoadReport): string =>
  `calls back after ${backMs.at(-1)?.toFixed(0)} ms, events after ${eventsMs.at(-1)?.toFixed(0)} ms`;

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; !(await holds()); await pause(5)) {
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s in vain until ${what}`);
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
