import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { openEventStream } from '@stagi/server/src/testing/eventStream.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import type { Platform } from '@stagi/server/src/testing/platform.ts';
import { writeConcurrently } from './writers.ts';

const PEOPLE = 6;
const PATIENCE_MS = 60_000;

export interface LoadReport {
  /** From the end of each disturbance to the first answer of the platform, and to its first event. */
  backMs: number[];
  eventsMs: number[];
  answered: number;
  refused: number;
  slowestRefusalMs: number;
  /** Objects that people created by the requests, and those that are stored. */
  asked: number;
  stored: number;
  wrong: string[];
  processExits: number;
}

interface Run {
  platform: Platform;
  /** Waits from now on until a call is answered and an event arrives. */
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
 * Disturbs a platform under load, adds the observations to the report, and removes the platform. `databaseUrl` is a
 * connection to its database that the disturbance leaves open.
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

/** Like the web app: follows the event stream, and opens a new one when it ends. */
function hearEvents(url: string, person: Person): { lastAt(): number; stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let lastAt = 0;
  const follow = async (): Promise<void> => {
    const { ticket } = await person.client(api.auth.streamTicket, {});
    const events = await openEventStream(url, ticket, ({ type }) => {
      if (type === 'changed') lastAt = performance.now();
    });
    const leave = () => void events.leave();
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    await events.closed;
    signal.removeEventListener('abort', leave);
  };
  const following = (async () => {
    while (!signal.aborted) {
      // The reason for the end of a stream does not matter. The run fails when no new stream delivers events in time.
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
