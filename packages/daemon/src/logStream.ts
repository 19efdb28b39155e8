import type { Readable } from 'node:stream';
import type { LogCursor } from '@stagi/contract/daemon.ts';
import { pause } from './deadline.ts';
import type { Engine } from './docker.ts';
import { statusOf } from './dockerErrors.ts';
import { dockerLogParser, type RawRecord } from './dockerLog.ts';
import { reasonOf, say } from './log.ts';
import { type Outbox, openOutbox } from './logOutbox.ts';
import { positionFrom, type Reading, reading, readSince } from './logPosition.ts';
import type { Session } from './session.ts';

/** The most that is handled between two looks at the link. */
const PIECE_BYTES = 256 * 1024;
/** Small batches that follow one another this closely travel together. */
const GATHER_MS = 8;
const SMALL_BATCH_BYTES = 16 * 1024;
/** Following is left when lines are read this late: Docker skips rotated files for a follower that is too slow. */
const MAX_LAG_NS = 1_000_000_000n;
const WATCHDOG_MS = 30_000;
const STUCK_AFTER_MS = 2000;
const REPLAY_MS = 1000;
const RETRY_MS = 1000;

export interface LogTask {
  engine: Engine;
  session: Session;
  /** Aborted when the link goes or the platform sends the stream back to an earlier cursor. */
  signal: AbortSignal;
  stream: number;
  dockerId: string;
  cursor: LogCursor;
  /** Up to which offset may be sent for now. */
  limit: number;
  /** Resolves when the container may have changed since the call. */
  changed(): Promise<void>;
  /** Hands over what raises that limit later. */
  onOutbox(allow: Outbox['allow']): void;
}

/**
 * Sends what Docker has of one container's log, from the cursor on, exactly once, and goes on until the container has
 * stopped. Answers which run of it ended (its start time). Throws when the signal is aborted.
 */
export async function shipLog(task: LogTask): Promise<string | null> {
  const { engine, session, signal, stream, dockerId } = task;
  const position = positionFrom(task.cursor);
  const outbox = openOutbox(session, stream, { offset: position.offset, limit: task.limit }, signal);
  task.onOutbox(outbox.allow);
  try {
    return await untilItEnds();
  } finally {
    outbox.close();
  }

  async function untilItEnds(): Promise<string | null> {
    for (;;) {
      signal.throwIfAborted();
      const changed = task.changed();
      try {
        const container = await engine.look(dockerId);
        if (!container) return null;
        if (container.state === 'created') {
          await changed;
          continue;
        }
        const running = container.state === 'running' || container.state === 'paused';
        // A reading that does not follow holds Docker's files open, so rotation cannot eat what it has not reached yet.
        if ((await copy(false, true)) === 'lost') await copy(false, false);
        if (running) {
          if ((await copy(true, true)) === 'lost') await pause(RETRY_MS, signal);
        } else if (container.state === 'restarting') {
          await Promise.race([changed, pause(RETRY_MS, signal)]);
        } else {
          return container.startedAt;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (statusOf(error) === 404) return null;
        say(`the log of ${dockerId.slice(0, 12)} cannot be read for now: ${reasonOf(error)}`);
        await pause(RETRY_MS, signal);
      }
    }
  }

  /** One reading of Docker's log; `lost` when the position is no longer in it. */
  async function copy(follow: boolean, seek: boolean): Promise<'end' | 'behind' | 'lost'> {
    const source = await engine.logs(dockerId, { follow, sinceNs: readSince(position, Date.now()) });
    const drop = () => source.destroy();
    signal.addEventListener('abort', drop, { once: true });
    const parser = dockerLogParser();
    const records = reading(position, { seek, mayReplay: follow });
    const dog = follow ? watchdog(records, drop) : undefined;
    let flushed = 0;
    let impatience: NodeJS.Timeout | undefined;
    try {
      for await (const chunk of chunksOf(source)) {
        for (const raw of parser.push(chunk)) {
          if (!seek && records.last() === null) await tellGap(raw);
          const record = records.next(raw);
          if (record) outbox.put(record);
          if (outbox.full()) await outbox.flush();
        }
        if (follow && strayed(records)) return 'lost';
        // Not once more, then, but a clock that was set back: a reading that does not follow tells them apart.
        if (records.replaying()) impatience ??= setTimeout(drop, REPLAY_MS);
        else impatience = void clearTimeout(impatience);
        if (outbox.waiting() === 0) continue;
        if (outbox.waiting() < SMALL_BATCH_BYTES && performance.now() - flushed < GATHER_MS)
          await pause(GATHER_MS, signal);
        await outbox.flush();
        flushed = performance.now();
        if (follow && isLate(records.last())) return 'behind';
      }
    } finally {
      clearInterval(dog);
      clearTimeout(impatience);
      signal.removeEventListener('abort', drop);
      source.destroy();
      await outbox.flush();
    }
    return records.seeking() && records.overshot() ? 'lost' : 'end';
  }

  async function tellGap(first: RawRecord): Promise<void> {
    await outbox.flush();
    session.send({
      type: 'log-gap',
      stream,
      offset: outbox.offset(),
      from: position.timeNs === null ? null : momentOf(position.timeNs),
      to: momentOf(first.timeNs),
      reason: 'Docker had dropped these lines before they could be sent',
    });
  }

  /** A follower of some versions of Docker can miss a rotation and hang; what Docker wrote last tells. */
  function watchdog(records: Reading, drop: () => void): NodeJS.Timeout {
    return setInterval(async () => {
      try {
        const before = records.last();
        const last = await lastRecord(engine, dockerId);
        if (last === null || last === before) return;
        await pause(STUCK_AFTER_MS, signal);
        if (records.last() === before) drop();
      } catch (error) {
        say(`the log of ${dockerId.slice(0, 12)} cannot be compared: ${reasonOf(error)}`);
      }
    }, WATCHDOG_MS);
  }
}

function strayed(records: Reading): boolean {
  return records.seeking() && records.overshot();
}

function isLate(timeNs: bigint | null): boolean {
  return timeNs !== null && BigInt(Date.now()) * 1_000_000n - timeNs > MAX_LAG_NS;
}

async function lastRecord(engine: Engine, dockerId: string): Promise<bigint | null> {
  const source = await engine.logs(dockerId, { follow: false, sinceNs: 0n, tail: 1 });
  const parser = dockerLogParser();
  let last: bigint | null = null;
  for await (const chunk of chunksOf(source)) last = parser.push(chunk).at(-1)?.timeNs ?? last;
  return last;
}

/** What is there at once, in one piece: Docker sends every line as a chunk of its own. Ends quietly when destroyed. */
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
    const there = readAll(source);
    if (there) {
      yield there;
      continue;
    }
    if (failure) throw failure;
    if (source.readableEnded || source.destroyed) return;
    await wake.promise;
    wake = Promise.withResolvers();
  }
}

/** Up to a piece of what is buffered: one `read()` answers a single chunk however many wait. */
function readAll(source: Readable): Buffer | null {
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

function momentOf(timeNs: bigint): string {
  const seconds = new Date(Number(timeNs / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(timeNs % 1_000_000_000n).padStart(9, '0')}Z`;
}
