import type { Readable } from 'node:stream';
import type { LogCursor } from '@stagi/contract/daemon.ts';
import { text } from '@stagi/contract/text.ts';
import type { Engine } from './docker.ts';
import { statusOf } from './dockerErrors.ts';
import { dockerLogParser, type RawRecord } from './dockerLogParser.ts';
import type { LinkSession } from './linkSession.ts';
import { errorText, log } from './log.ts';
import { logMask } from './logMask.ts';
import { type LogOutbox, openLogOutbox } from './logOutbox.ts';
import { type LogReading, openReading, positionOf, readSince } from './logPosition.ts';
import { sleep } from './timing.ts';

/** How much is processed at once before the link is checked again. */
const PIECE_BYTES = 256 * 1024;
/** Small batches within this time are sent in one frame. */
const BATCH_MS = 8;
const SMALL_BATCH_BYTES = 16 * 1024;
/** A reader that lags this far stops following: Docker skips rotated files for a follower that is too slow. */
const MAX_LAG_NS = 1_000_000_000n;
const WATCHDOG_MS = 30_000;
const WATCHDOG_GRACE_MS = 2000;
const REPLAY_TIMEOUT_MS = 1000;
const RETRY_MS = 1000;

export interface LogTask {
  engine: Engine;
  session: LinkSession;
  /** Aborted on a disconnect and when the platform rewinds the stream. */
  signal: AbortSignal;
  stream: number;
  dockerId: string;
  cursor: LogCursor;
  /** The credit at the start: bytes up to this offset may be sent. */
  limit: number;
  /** Resolves when the container may have changed after the call. */
  containerChanged(): Promise<void>;
  /** Passes out the function that raises this limit. */
  onOutboxOpen(allow: LogOutbox['grantCredit']): void;
}

/**
 * Sends the log of one container from the cursor on, each record exactly once, until the container has stopped. Returns
 * the start time of the run that ended. Throws when the signal is aborted.
 */
export async function shipLog(task: LogTask): Promise<string | null> {
  const { engine, session, signal, stream, dockerId } = task;
  const position = positionOf(task.cursor);
  const outbox = openLogOutbox(session, stream, { offset: position.offset, limit: task.limit }, signal);
  task.onOutboxOpen(outbox.grantCredit);
  try {
    return await shipUntilEnd();
  } finally {
    outbox.close();
  }

  async function shipUntilEnd(): Promise<string | null> {
    let mask: ReturnType<typeof logMask> | null = null;
    for (;;) {
      signal.throwIfAborted();
      const changed = task.containerChanged();
      try {
        const container = await engine.inspect(dockerId);
        if (!container) return null;
        if (container.state === 'created') {
          await changed;
          continue;
        }
        mask ??= logMask(await engine.secretsOf(dockerId));
        const running = container.state === 'running' || container.state === 'paused';
        // Without `follow` Docker keeps its files open for the reader, so a rotation loses nothing.
        if ((await readOnce(mask, false, true)) === 'lost') await readOnce(mask, false, false);
        if (running) {
          if ((await readOnce(mask, true, true)) === 'lost') await sleep(RETRY_MS, signal);
        } else if (container.state === 'restarting') {
          await Promise.race([changed, sleep(RETRY_MS, signal)]);
        } else {
          return container.startedAt;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (statusOf(error) === 404) return null;
        log(`the log of ${dockerId.slice(0, 12)} cannot be read for now: ${errorText(error)}`);
        await sleep(RETRY_MS, signal);
      }
    }
  }

  /** One pass over Docker's log; `lost` when the position is no longer in it. */
  async function readOnce(
    mask: ReturnType<typeof logMask>,
    follow: boolean,
    seek: boolean,
  ): Promise<'end' | 'behind' | 'lost'> {
    const source = await engine.logs(dockerId, { follow, sinceNs: readSince(position, Date.now()) });
    const closeSource = () => source.destroy();
    signal.addEventListener('abort', closeSource, { once: true });
    const parser = dockerLogParser();
    const records = openReading(position, { seek, mayReplay: follow });
    const watchdogTimer = follow ? startWatchdog(records, closeSource) : undefined;
    let flushed = 0;
    let replayTimer: NodeJS.Timeout | undefined;
    try {
      for await (const chunk of chunksOf(source)) {
        for (const raw of parser.push(chunk)) {
          if (!seek && records.lastTimeNs() === null) await reportGap(raw);
          const record = records.next(raw);
          if (record) outbox.put({ ...record, text: mask(record.text) });
          if (outbox.isFull()) await outbox.flush();
        }
        if (follow && hasLostPosition(records)) return 'lost';
        // A repetition ends soon. Otherwise the clock was set back, which a pass that does not follow can tell.
        if (records.replaying()) replayTimer ??= setTimeout(closeSource, REPLAY_TIMEOUT_MS);
        else replayTimer = void clearTimeout(replayTimer);
        if (outbox.waitingBytes() === 0) continue;
        if (outbox.waitingBytes() < SMALL_BATCH_BYTES && performance.now() - flushed < BATCH_MS)
          await sleep(BATCH_MS, signal);
        await outbox.flush();
        flushed = performance.now();
        if (follow && isLagging(records.lastTimeNs())) return 'behind';
      }
    } finally {
      clearInterval(watchdogTimer);
      clearTimeout(replayTimer);
      signal.removeEventListener('abort', closeSource);
      source.destroy();
      await outbox.flush();
    }
    return records.seeking() && records.overshot() ? 'lost' : 'end';
  }

  async function reportGap(first: RawRecord): Promise<void> {
    await outbox.flush();
    session.send({
      type: 'log-gap',
      stream,
      offset: outbox.offset(),
      from: position.timeNs === null ? null : timeText(position.timeNs),
      to: timeText(first.timeNs),
      reason: text('Docker dropped these lines before they were sent'),
    });
  }

  /** Some versions of Docker hang a follower at a rotation: closes the source when Docker's last record is not reached. */
  function startWatchdog(records: LogReading, closeSource: () => void): NodeJS.Timeout {
    return setInterval(async () => {
      try {
        const before = records.lastTimeNs();
        const last = await lastRecord(engine, dockerId);
        if (last === null || last === before) return;
        await sleep(WATCHDOG_GRACE_MS, signal);
        if (records.lastTimeNs() === before) closeSource();
      } catch (error) {
        log(`the log of ${dockerId.slice(0, 12)} cannot be compared: ${errorText(error)}`);
      }
    }, WATCHDOG_MS);
  }
}

function hasLostPosition(records: LogReading): boolean {
  return records.seeking() && records.overshot();
}

function isLagging(timeNs: bigint | null): boolean {
  return timeNs !== null && BigInt(Date.now()) * 1_000_000n - timeNs > MAX_LAG_NS;
}

async function lastRecord(engine: Engine, dockerId: string): Promise<bigint | null> {
  const source = await engine.logs(dockerId, { follow: false, sinceNs: 0n, tail: 1 });
  const parser = dockerLogParser();
  let last: bigint | null = null;
  for await (const chunk of chunksOf(source)) last = parser.push(chunk).at(-1)?.timeNs ?? last;
  return last;
}

/** The source's data in larger pieces, as Docker sends every line as a chunk. Ends without an error when destroyed. */
async function* chunksOf(source: Readable): AsyncGenerator<Buffer> {
  let failure: Error | null = null;
  let wake = Promise.withResolvers<void>();
  const onChange = () => wake.resolve();
  source.on('readable', onChange);
  source.on('end', onChange);
  source.on('close', onChange);
  source.on('error', (error) => {
    failure = error;
    wake.resolve();
  });
  for (;;) {
    const bytes = readBuffered(source);
    if (bytes) {
      yield bytes;
      continue;
    }
    if (failure) throw failure;
    if (source.readableEnded || source.destroyed) return;
    await wake.promise;
    wake = Promise.withResolvers();
  }
}

/** Everything buffered, up to a piece: one `read()` returns a single chunk however many wait. */
function readBuffered(source: Readable): Buffer | null {
  const chunks: Buffer[] = [];
  let size = 0;
  while (size < PIECE_BYTES) {
    const chunk: unknown = source.read();
    if (!Buffer.isBuffer(chunk)) break;
    chunks.push(chunk);
    size += chunk.length;
  }
  return chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? null);
}

function timeText(timeNs: bigint): string {
  const seconds = new Date(Number(timeNs / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(timeNs % 1_000_000_000n).padStart(9, '0')}Z`;
}
