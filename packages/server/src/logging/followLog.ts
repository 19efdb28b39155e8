import { setTimeout as pause } from 'node:timers/promises';
import type { LogGap, LogLine, TailMessage } from '@stagi/contract/logging.ts';
import type { Context } from '../context.ts';
import { gapsFrom, lastSeqOf, linesAfter } from './query.ts';
import { lastRuns } from './runs.ts';

/** The first line is sent at once; the following ones are batched for this time. */
const BATCH_MS = 25;
const BATCH_LINES = 1_000;
/** Storage is polled too, as lines that another process stored are not published here. */
const POLL_MS = 1_000;
const BUFFERED_LINES_MAX = 10_000;
/** Backpressure: with this much in the reader's send buffer nothing is added. */
const SEND_BUFFER_MAX_BYTES = 1024 * 1024;
const BACKPRESSURE_POLL_MS = 50;
/** A reader that lags further skips to the newest lines, and is told which ones it missed. */
const LAG_MAX_LINES = 20_000;

interface Reader {
  send(message: TailMessage): void;
  /** Bytes that the reader has not read yet. */
  bufferedBytes(): number;
  onError(error: unknown): void;
}

/**
 * Sends the lines of a container after `after` (default: the last one stored) and follows the log: each line exactly once,
 * in order. Published lines that directly continue the log are sent as they are; all others are read from storage.
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
  let buffered: LogLine[] = [];
  let gaps: LogGap[] = [];
  let areRunsStale = true;
  let sentRuns = '';
  let isWoken = false;
  let wake = (): void => {};

  const wakeLoop = (): void => {
    isWoken = true;
    wake();
  };
  const unsubscribe = ctx.bus.subscribe('log', (news) => {
    if (news.containerId !== containerId) return;
    gaps.push(...news.gaps);
    // Dropped lines are read from storage later, as the next ones do not continue the log.
    const isFull = buffered.length > BUFFERED_LINES_MAX || reader.bufferedBytes() > SEND_BUFFER_MAX_BYTES;
    buffered = isFull ? [] : buffered.concat(news.lines);
    wakeLoop();
  });
  const unsubscribeRuns = ctx.bus.subscribe('changed', ({ entity, id }) => {
    if (entity !== 'docker-container' || id !== containerId) return;
    areRunsStale = true;
    wakeLoop();
  });
  const poll = setInterval(wakeLoop, POLL_MS);
  run().catch((error: unknown) => {
    if (!signal.aborted) reader.onError(error);
  });

  async function run(): Promise<void> {
    sent = after ?? (await lastSeqOf(ctx.db, containerId));
    gaps = [...(await gapsFrom(ctx.db, containerId, sent)), ...gaps];
    while (!signal.aborted) {
      isWoken = false;
      await forward();
      if (areRunsStale) await sendRuns();
      await pause(BATCH_MS, null, { signal });
      if (!isWoken) await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  async function forward(): Promise<void> {
    const fresh = buffered.filter((line) => line.seq > sent);
    buffered = [];
    if (fresh[0]?.seq === sent + 1 && fresh.at(-1)?.seq === sent + fresh.length) {
      for (let at = 0; at < fresh.length; at += BATCH_LINES) await sendLines(fresh.slice(at, at + BATCH_LINES));
    } else {
      await forwardStored();
    }
    if (gaps.length > 0) await sendLines([]);
  }

  async function forwardStored(): Promise<void> {
    const last = await lastSeqOf(ctx.db, containerId);
    if (last - sent > LAG_MAX_LINES) {
      const toSeq = last - BATCH_LINES;
      reader.send({ type: 'skipped', fromSeq: sent + 1, toSeq });
      sent = toSeq;
    }
    while (sent < last) {
      const lines = await linesAfter(ctx.db, containerId, sent, BATCH_LINES);
      // Retention has deleted the lines in between.
      if (lines.length === 0) sent = last;
      else await sendLines(lines);
    }
  }

  async function sendRuns(): Promise<void> {
    areRunsStale = false;
    const runs = await lastRuns(ctx.db, containerId);
    signal.throwIfAborted();
    if (runs.length > 0 && JSON.stringify(runs) !== sentRuns) reader.send({ type: 'lines', lines: [], gaps: [], runs });
    sentRuns = JSON.stringify(runs);
  }

  async function sendLines(lines: LogLine[]): Promise<void> {
    while (reader.bufferedBytes() > SEND_BUFFER_MAX_BYTES) await pause(BACKPRESSURE_POLL_MS, null, { signal });
    signal.throwIfAborted();
    sent = lines.at(-1)?.seq ?? sent;
    const reached = withoutDuplicates(gaps.filter((gap) => gap.afterSeq <= sent));
    gaps = gaps.filter((gap) => gap.afterSeq > sent);
    if (lines.length > 0 || reached.length > 0) reader.send({ type: 'lines', lines, gaps: reached });
  }

  return {
    stop() {
      stopping.abort();
      unsubscribe();
      unsubscribeRuns();
      clearInterval(poll);
      wake();
    },
  };
}

function withoutDuplicates(gaps: readonly LogGap[]): LogGap[] {
  return [...new Map(gaps.map((gap) => [`${gap.afterSeq}|${gap.from}|${gap.to}`, gap])).values()];
}
