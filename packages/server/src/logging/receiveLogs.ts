import { type DaemonMessage, type PlatformMessage, STREAM_CREDIT_BYTES } from '@stagi/contract/daemon.ts';
import { decodeFrame } from '@stagi/contract/frames.ts';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { limitRate } from '../loops/rate.ts';
import { assembleLines, type Lines } from './assembleLines.ts';
import type { WaitUntilDurable } from './logDurability.ts';
import { parseNs } from './nanoTime.ts';
import { publishGap, publishLines } from './publishLines.ts';
import { claimStream, type StreamKey, storeGap, storeLines } from './storeLines.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;
type StreamEvent = Message<'log-gap'> | Message<'log-end'>;
type Item = Uint8Array | StreamEvent;

/**
 * How much log a server may send. A daemon that waits for credit reads Docker's files later: what was rotated away by then
 * becomes a gap.
 */
const MAX_BYTES_PER_SECOND = 10_000_000;
/** A daemon that sends more violates the flow control; the tolerance covers frames in flight. */
const UNSTORED_MAX_BYTES = 4 * STREAM_CREDIT_BYTES;
const REASON_MAX = 300;

/** Concurrency limit of the links of this process, as the database has other work. */
const limitStores = limitConcurrency(3);

interface Stream {
  number: number;
  key: StreamKey;
  assembly: ReturnType<typeof assembleLines>;
  /** Bytes up to `stored` are in the database, bytes up to `received` have arrived without a gap. */
  stored: number;
  received: number;
  /** The end of the last repeated bytes; the next ones continue there until the daemon was rewound again. */
  repeatedUpTo: number | null;
  /** Bytes up to here were acknowledged to the daemon. */
  acknowledged: number;
  isAcknowledging: boolean;
  queue: Item[];
  isProcessing: boolean;
  processing: Promise<void>;
}

interface Link {
  send(message: PlatformMessage): void;
  /** The daemon violates the protocol. */
  violation(what: string): void;
  /** The bytes do not continue what is stored: closes the link, and the next one resumes from there. */
  outOfStep(what: string): void;
  /** The link cannot be served now: closes it, and the daemon reconnects. */
  unavailable(error: unknown): void;
}

export interface LogReceiver {
  open(message: Message<'log-open'>): void;
  gap(message: Message<'log-gap'>): void;
  end(message: Message<'log-end'>): void;
  bytes(frame: Uint8Array): void;
  /** Stops receiving; resolves when the pending writes are done. */
  close(): Promise<void>;
}

/**
 * Receives the log streams of one link. Acknowledged bytes are stored durably, in order, exactly once; followers see them
 * before that. Repeated bytes are dropped and the daemon gets the cursor again; bytes after a gap close the link.
 */
export function receiveLogs(
  ctx: Pick<Context, 'db' | 'bus' | 'log' | 'meters'>,
  node: { instanceId: number; epoch: number },
  waitUntilDurable: WaitUntilDurable,
  link: Link,
): LogReceiver {
  const streams = new Map<number, Stream>();
  const pending = new Set<Promise<void>>();
  const pace = limitRate(MAX_BYTES_PER_SECOND);
  let closed = false;

  async function open({ stream: number, containerId, epoch }: Message<'log-open'>): Promise<void> {
    const key: StreamKey = { containerId, epoch, owner: node.epoch };
    const before = streams.values().find((other) => other.key.containerId === containerId && other.key.epoch === epoch);
    if (before) {
      streams.delete(before.number);
      before.queue = [];
      await before.processing;
    }
    const state = await claimStream(ctx.db, node.instanceId, key);
    if (closed) return;
    if (!state) {
      link.send({
        type: 'log-refuse',
        epoch: node.epoch,
        stream: number,
        reason: text('This container is not on this server'),
      });
      return;
    }
    const stream: Stream = {
      number,
      key,
      assembly: assembleLines(state),
      stored: state.offset,
      received: state.offset,
      repeatedUpTo: null,
      acknowledged: state.offset,
      isAcknowledging: false,
      queue: [],
      isProcessing: false,
      processing: Promise.resolve(),
    };
    streams.set(number, stream);
    sendResume(stream);
  }

  function sendResume(stream: Stream): void {
    const { offset, lastTimeNs, recordsAtTime } = stream.assembly.state();
    link.send({
      type: 'log-resume',
      epoch: node.epoch,
      stream: stream.number,
      cursor: { offset, timeNs: lastTimeNs === null ? null : String(lastTimeNs), recordsAtTime },
      credit: STREAM_CREDIT_BYTES,
    });
  }

  /** Stops storing: bytes after a failure must not be taken for the missing ones. */
  function fail(tell: () => void): void {
    closed = true;
    tell();
  }

  function push(stream: Stream, item: Item): void {
    stream.queue.push(item);
    if (stream.isProcessing) return;
    stream.processing = processQueue(stream);
    track(stream.processing);
  }

  async function processQueue(stream: Stream): Promise<void> {
    stream.isProcessing = true;
    try {
      for (let item = stream.queue.shift(); item && !closed; item = stream.queue.shift()) {
        const isStored = item instanceof Uint8Array ? await storeBytes(stream, item) : await storeEvent(stream, item);
        if (!isStored) fail(() => link.outOfStep('another connection has stored this log'));
      }
    } catch (error) {
      fail(() => (error instanceof RangeError ? link.violation(error.message) : link.unavailable(error)));
    } finally {
      stream.isProcessing = false;
    }
  }

  async function storeBytes(stream: Stream, first: Uint8Array): Promise<boolean> {
    const parts = [first];
    while (stream.queue[0] instanceof Uint8Array) parts.push(stream.queue.shift() as Uint8Array);
    const lines = stream.assembly.take(parts.length === 1 ? first : Buffer.concat(parts));
    return store(stream, lines);
  }

  async function storeEvent(stream: Stream, event: StreamEvent): Promise<boolean> {
    const flushed = stream.assembly.flush();
    if (event.type === 'log-end') streams.delete(stream.number);
    return store(stream, flushed, event);
  }

  async function store(stream: Stream, lines: Lines, event?: StreamEvent): Promise<boolean> {
    const { key, stored: from } = stream;
    const to = stream.assembly.state();
    if (to.offset === from && lines.count === 0 && !event) return true;
    const gap = event?.type === 'log-gap' ? gapOf(event) : null;
    const lastSeq = await limitStores(async () => {
      if (!gap) return storeLines(ctx.db, key, from, lines, to, event?.type);
      return inTransaction(ctx.db, async (trx) => {
        const seq = await storeLines(trx, key, from, lines, to, event?.type);
        if (seq !== null) await storeGap(trx, key.containerId, seq, gap);
        return seq;
      });
    });
    if (lastSeq === null) return false;
    stream.stored = to.offset;
    if (!stream.isAcknowledging) track(acknowledge(stream));
    if (lines.count > 0) {
      ctx.meters.linesStored(lines.count, lines.times.at(-1));
      publishLines(ctx.bus, key.containerId, lastSeq, lines);
    }
    if (gap) ctx.meters.gapStored();
    if (gap) publishGap(ctx.bus, key.containerId, lastSeq, gap);
    return true;
  }

  /** Acknowledges only bytes on disk, as the daemon does not repeat acknowledged ones. Followers do not wait for it. */
  async function acknowledge(stream: Stream): Promise<void> {
    stream.isAcknowledging = true;
    try {
      while (!closed && stream.acknowledged < stream.stored) {
        const offset = stream.stored;
        const isDurable = await waitUntilDurable(stream.key, offset);
        if (closed) return;
        if (!isDurable) return fail(() => link.outOfStep('the database has lost the end of this log'));
        await pace(offset - stream.acknowledged);
        if (closed) return;
        link.send({ type: 'credit', epoch: node.epoch, stream: stream.number, offset, bytes: STREAM_CREDIT_BYTES });
        stream.acknowledged = offset;
      }
    } catch (error) {
      fail(() => link.unavailable(error));
    } finally {
      stream.isAcknowledging = false;
    }
  }

  /** An event belongs to an offset: before `received` it is a repetition, after it bytes are missing. */
  function pushEvent(event: StreamEvent, offset: number | null): void {
    const stream = streams.get(event.stream);
    if (closed || !stream || (offset !== null && offset < stream.received)) return;
    if (offset !== null && offset > stream.received) fail(() => link.outOfStep('bytes of a log are missing'));
    else push(stream, event);
  }

  function pushBytes(frame: Uint8Array): void {
    const data = decodeFrame(frame);
    const stream = streams.get(data.stream);
    if (closed || !stream) return;
    const end = data.offset + data.bytes.length;
    if (end <= stream.received) {
      // A duplicated message rewound the daemon. It needs new credit, as it may not catch up with what it has.
      if (data.offset !== stream.repeatedUpTo) sendResume(stream);
      stream.repeatedUpTo = end;
      return;
    }
    if (data.offset > stream.received) {
      fail(() => link.outOfStep('bytes of a log are missing'));
    } else if (end - stream.stored > UNSTORED_MAX_BYTES) {
      fail(() => link.violation('more bytes than were granted'));
    } else {
      const fresh = data.bytes.subarray(stream.received - data.offset);
      stream.received = end;
      push(stream, fresh);
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work.catch(link.unavailable).finally(() => pending.delete(tracked));
    pending.add(tracked);
  }

  return {
    open: (message) => track(open(message)),
    gap: (message) => pushEvent(message, message.offset),
    end: (message) => pushEvent(message, null),
    bytes(frame) {
      try {
        pushBytes(frame);
      } catch (error) {
        fail(() => link.violation((error as RangeError).message));
      }
    },
    async close() {
      closed = true;
      await Promise.all(pending);
    },
  };
}

function gapOf({ from, to, reason }: Message<'log-gap'>) {
  return { fromNs: nsOf(from), toNs: nsOf(to), reason: reason.slice(0, REASON_MAX) };
}

/** Daemons send times as RFC 3339 or as nanoseconds. */
function nsOf(time: string | null): bigint | null {
  if (time === null) return null;
  return /^\d{1,18}$/.test(time) ? BigInt(time) : parseNs(time);
}
