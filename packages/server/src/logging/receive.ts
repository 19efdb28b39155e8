import { type DaemonMessage, type PlatformMessage, STREAM_CREDIT_BYTES } from '@stagi/contract/daemon.ts';
import { decodeFrame } from '@stagi/contract/frames.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { takeTurns } from '../turns.ts';
import type { LogKeeper } from './kept.ts';
import { assembleLines, type Lines } from './lines.ts';
import { publishGap, publishLines } from './live.ts';
import { type StreamKey, storeGap, storeLines, takeStream } from './store.ts';
import { parseNs } from './time.ts';

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;
type Mark = Message<'log-gap'> | Message<'log-end'>;
type Item = Uint8Array | Mark;

/** More than was granted is a daemon that does not heed credit; some tolerance for what was on its way. */
const UNSTORED_MAX_BYTES = 4 * STREAM_CREDIT_BYTES;
const REASON_MAX = 300;

/** The database has other work: only so many links of this process store at once. */
const inTurn = takeTurns(3);

interface Stream {
  number: number;
  key: StreamKey;
  assembly: ReturnType<typeof assembleLines>;
  /** Bytes up to here are stored, and up to there have come without a hole. */
  stored: number;
  come: number;
  /** Where bytes ended that had come before; they go on there as long as the daemon has not been sent back anew. */
  repeated: number | null;
  /** Up to here the daemon was told that its bytes are kept. */
  told: number;
  telling: boolean;
  queue: Item[];
  busy: boolean;
  pumping: Promise<void>;
}

interface Link {
  send(message: PlatformMessage): void;
  /** The daemon does not keep to the protocol. */
  violation(what: string): void;
  /** What came does not join on to what is stored: a new link begins from there. */
  outOfStep(what: string): void;
  /** The link cannot be served now. */
  broken(error: unknown): void;
}

export interface LogReceiver {
  open(message: Message<'log-open'>): void;
  gap(message: Message<'log-gap'>): void;
  end(message: Message<'log-end'>): void;
  bytes(frame: Uint8Array): void;
  /** Takes nothing more; resolves when what is being stored is stored. */
  close(): Promise<void>;
}

/**
 * The log streams of one link. What is acknowledged is stored for good, in order, once; who watches sees it before.
 * Bytes that come again are dropped and the daemon is told where the stream stands, bytes that do not join on end the
 * link.
 */
export function receiveLogs(
  ctx: Pick<Context, 'db' | 'bus' | 'log' | 'meters'>,
  node: { instanceId: number; epoch: number },
  keep: LogKeeper,
  link: Link,
): LogReceiver {
  const streams = new Map<number, Stream>();
  const underWay = new Set<Promise<void>>();
  let closed = false;

  async function open({ stream: number, containerId, epoch }: Message<'log-open'>): Promise<void> {
    const key: StreamKey = { containerId, epoch, owner: node.epoch };
    const before = streams.values().find((other) => other.key.containerId === containerId && other.key.epoch === epoch);
    if (before) {
      streams.delete(before.number);
      before.queue = [];
      await before.pumping;
    }
    const standing = await takeStream(ctx.db, node.instanceId, key);
    if (closed) return;
    if (!standing) {
      link.send({
        type: 'log-refuse',
        epoch: node.epoch,
        stream: number,
        reason: 'This container is not of this server',
      });
      return;
    }
    const stream: Stream = {
      number,
      key,
      assembly: assembleLines(standing),
      stored: standing.offset,
      come: standing.offset,
      repeated: null,
      told: standing.offset,
      telling: false,
      queue: [],
      busy: false,
      pumping: Promise.resolve(),
    };
    streams.set(number, stream);
    sendResume(stream);
  }

  function sendResume(stream: Stream): void {
    const { offset, lastTimeNs, recordsAtTime } = stream.assembly.standing();
    link.send({
      type: 'log-resume',
      epoch: node.epoch,
      stream: stream.number,
      cursor: { offset, timeNs: lastTimeNs === null ? null : String(lastTimeNs), recordsAtTime },
      credit: STREAM_CREDIT_BYTES,
    });
  }

  /** Nothing is stored any more: what came after the fault must not be taken for what was missed. */
  function fault(tell: () => void): void {
    closed = true;
    tell();
  }

  function push(stream: Stream, item: Item): void {
    stream.queue.push(item);
    if (stream.busy) return;
    stream.pumping = pump(stream);
    track(stream.pumping);
  }

  async function pump(stream: Stream): Promise<void> {
    stream.busy = true;
    try {
      for (let item = stream.queue.shift(); item && !closed; item = stream.queue.shift()) {
        const inStep = item instanceof Uint8Array ? await takeBytes(stream, item) : await takeMark(stream, item);
        if (!inStep) fault(() => link.outOfStep('another connection has stored this log'));
      }
    } catch (error) {
      fault(() => (error instanceof RangeError ? link.violation(error.message) : link.broken(error)));
    } finally {
      stream.busy = false;
    }
  }

  async function takeBytes(stream: Stream, first: Uint8Array): Promise<boolean> {
    const parts = [first];
    while (stream.queue[0] instanceof Uint8Array) parts.push(stream.queue.shift() as Uint8Array);
    const lines = stream.assembly.take(parts.length === 1 ? first : Buffer.concat(parts));
    return store(stream, lines);
  }

  async function takeMark(stream: Stream, mark: Mark): Promise<boolean> {
    const flushed = stream.assembly.flush();
    if (mark.type === 'log-end') streams.delete(stream.number);
    return store(stream, flushed, mark);
  }

  async function store(stream: Stream, lines: Lines, mark?: Mark): Promise<boolean> {
    const { key, stored: from } = stream;
    const to = stream.assembly.standing();
    if (to.offset === from && lines.count === 0 && !mark) return true;
    const loss = mark?.type === 'log-gap' ? lossOf(mark) : null;
    const lastSeq = await inTurn(async () => {
      if (!loss) return storeLines(ctx.db, key, from, lines, to, mark?.type);
      return inTransaction(ctx.db, async (trx) => {
        const seq = await storeLines(trx, key, from, lines, to, mark?.type);
        if (seq !== null) await storeGap(trx, key.containerId, seq, loss);
        return seq;
      });
    });
    if (lastSeq === null) return false;
    stream.stored = to.offset;
    if (!stream.telling) track(acknowledge(stream));
    if (lines.count > 0) {
      ctx.meters.linesStored(lines.count, lines.times.at(-1));
      publishLines(ctx.bus, key.containerId, lastSeq, lines);
    }
    if (loss) ctx.meters.gapStored();
    if (loss) publishGap(ctx.bus, key.containerId, lastSeq, loss);
    return true;
  }

  /** Readers do not wait for the disk; the daemon does, which would not send again what it was told is kept. */
  async function acknowledge(stream: Stream): Promise<void> {
    stream.telling = true;
    try {
      while (!closed && stream.told < stream.stored) {
        const offset = stream.stored;
        const kept = await keep(stream.key, offset);
        if (closed) return;
        if (!kept) return fault(() => link.outOfStep('the database has lost the end of this log'));
        link.send({ type: 'credit', epoch: node.epoch, stream: stream.number, offset, bytes: STREAM_CREDIT_BYTES });
        stream.told = offset;
      }
    } catch (error) {
      fault(() => link.broken(error));
    } finally {
      stream.telling = false;
    }
  }

  /** A mark counts where it was set: at an earlier place it is known already, at a later one bytes are missing. */
  function pushMark(mark: Mark, offset: number | null): void {
    const stream = streams.get(mark.stream);
    if (closed || !stream || (offset !== null && offset < stream.come)) return;
    if (offset !== null && offset > stream.come) fault(() => link.outOfStep('bytes of a log are missing'));
    else push(stream, mark);
  }

  function pushBytes(frame: Uint8Array): void {
    const data = decodeFrame(frame);
    const stream = streams.get(data.stream);
    if (closed || !stream) return;
    const end = data.offset + data.bytes.length;
    if (end <= stream.come) {
      // A network that repeats itself sent the daemon back: nothing would be granted until it has caught up, and it may
      // not get that far with what it was granted.
      if (data.offset !== stream.repeated) sendResume(stream);
      stream.repeated = end;
      return;
    }
    if (data.offset > stream.come) {
      fault(() => link.outOfStep('bytes of a log are missing'));
    } else if (end - stream.stored > UNSTORED_MAX_BYTES) {
      fault(() => link.violation('more bytes than were granted'));
    } else {
      const fresh = data.bytes.subarray(stream.come - data.offset);
      stream.come = end;
      push(stream, fresh);
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work.catch(link.broken).finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  }

  return {
    open: (message) => track(open(message)),
    gap: (message) => pushMark(message, message.offset),
    end: (message) => pushMark(message, null),
    bytes(frame) {
      try {
        pushBytes(frame);
      } catch (error) {
        fault(() => link.violation((error as RangeError).message));
      }
    },
    async close() {
      closed = true;
      await Promise.all(underWay);
    },
  };
}

function lossOf({ from, to, reason }: Message<'log-gap'>) {
  return { fromNs: nsOf(from), toNs: nsOf(to), reason: reason.slice(0, REASON_MAX) };
}

/** A daemon tells times as RFC 3339 or as nanoseconds. */
function nsOf(time: string | null): bigint | null {
  if (time === null) return null;
  return /^\d{1,18}$/.test(time) ? BigInt(time) : parseNs(time);
}
