import { setTimeout as pause } from 'node:timers/promises';
import type { LogGap, LogLine, TailMessage } from '@stagi/contract/logging.ts';
import type { Context } from '../context.ts';
import { gapsFrom, lastSeqOf, linesAfter } from './query.ts';

/** The first line goes out at once, those that follow it are gathered for so long. */
const BATCH_MS = 25;
const BATCH_LINES = 1_000;
/** Storage is looked at besides: lines that another node of the platform stored are not told here. */
const LOOK_MS = 1_000;
const HELD_LINES_MAX = 10_000;
/** While so much waits for the reader nothing is added. */
const UNSENT_MAX_BYTES = 1024 * 1024;
const READER_LOOK_MS = 50;
/** Further behind than this a reader gets the newest lines, and where the others are. */
const BEHIND_MAX_LINES = 20_000;

interface Reader {
  send(message: TailMessage): void;
  /** Bytes the reader has not taken yet. */
  unsent(): number;
  broken(error: unknown): void;
}

/**
 * Sends the lines of a container behind `after` (default: the last one stored) and goes on with those that come: each
 * once, in order, without a hole. What is heard live and joins on is sent as it is; anything else is read from storage.
 */
export function followLog(
  ctx: Pick<Context, 'db' | 'bus'>,
  containerId: number,
  after: number | undefined,
  reader: Reader,
): { stop(): void } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let sent = 0;
  let held: LogLine[] = [];
  let gaps: LogGap[] = [];
  let stirred = false;
  let wake = (): void => {};

  const stir = (): void => {
    stirred = true;
    wake();
  };
  const unsubscribe = ctx.bus.subscribe('log', (news) => {
    if (news.containerId !== containerId) return;
    gaps.push(...news.gaps);
    // What is too much to hold is left to storage: what does not join on is read from there.
    const isFull = held.length > HELD_LINES_MAX || reader.unsent() > UNSENT_MAX_BYTES;
    held = isFull ? [] : held.concat(news.lines);
    stir();
  });
  const look = setInterval(stir, LOOK_MS);
  run().catch((error: unknown) => {
    if (!signal.aborted) reader.broken(error);
  });

  async function run(): Promise<void> {
    sent = after ?? (await lastSeqOf(ctx.db, containerId));
    gaps = [...(await gapsFrom(ctx.db, containerId, sent)), ...gaps];
    while (!signal.aborted) {
      stirred = false;
      await forward();
      await pause(BATCH_MS, null, { signal });
      if (!stirred) await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  async function forward(): Promise<void> {
    const fresh = held.filter((line) => line.seq > sent);
    held = [];
    if (fresh[0]?.seq === sent + 1 && fresh.at(-1)?.seq === sent + fresh.length) {
      for (let at = 0; at < fresh.length; at += BATCH_LINES) await give(fresh.slice(at, at + BATCH_LINES));
    } else {
      await forwardStored();
    }
    if (gaps.length > 0) await give([]);
  }

  async function forwardStored(): Promise<void> {
    const last = await lastSeqOf(ctx.db, containerId);
    if (last - sent > BEHIND_MAX_LINES) {
      const toSeq = last - BATCH_LINES;
      reader.send({ type: 'skipped', fromSeq: sent + 1, toSeq });
      sent = toSeq;
    }
    while (sent < last) {
      const lines = await linesAfter(ctx.db, containerId, sent, BATCH_LINES);
      // Nothing behind it any more: those lines have had their time.
      if (lines.length === 0) sent = last;
      else await give(lines);
    }
  }

  async function give(lines: LogLine[]): Promise<void> {
    while (reader.unsent() > UNSENT_MAX_BYTES) await pause(READER_LOOK_MS, null, { signal });
    signal.throwIfAborted();
    sent = lines.at(-1)?.seq ?? sent;
    const reached = distinct(gaps.filter((gap) => gap.afterSeq <= sent));
    gaps = gaps.filter((gap) => gap.afterSeq > sent);
    if (lines.length > 0 || reached.length > 0) reader.send({ type: 'lines', lines, gaps: reached });
  }

  return {
    stop() {
      stopping.abort();
      unsubscribe();
      clearInterval(look);
      wake();
    },
  };
}

function distinct(gaps: readonly LogGap[]): LogGap[] {
  return [...new Map(gaps.map((gap) => [`${gap.afterSeq}|${gap.from}|${gap.to}`, gap])).values()];
}
