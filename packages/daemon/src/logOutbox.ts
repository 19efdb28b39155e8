import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import type { Session } from './session.ts';

const MAX_PAYLOAD_BYTES = 64 * 1024;

/** The way of one log stream's records into frames, as far as the platform's credit reaches. */
export interface Outbox {
  put(record: LogRecord): void;
  /** Bytes that wait. */
  waiting(): number;
  /** At least a frame's worth waits: flush before putting more. */
  full(): boolean;
  /** Resolves when all was handed to the link; waits for credit. Throws when the signal is aborted. */
  flush(): Promise<void>;
  /** Of the first byte that has not been handed over. */
  offset(): number;
  /** Bytes up to `stored` are kept by the platform; the stream may go as far as `limit`. Neither ever goes back. */
  allow(stored: number, limit: number): void;
  /** Nothing is sent any more, and nobody waits for what was. */
  close(): void;
}

export function openOutbox(
  session: Session,
  stream: number,
  from: { offset: number; limit: number },
  signal: AbortSignal,
): Outbox {
  let { offset, limit } = from;
  let queue: Uint8Array[] = [];
  let waiting = 0;
  /** Of what was sent from here the platform has so much; what it knows may lie further on, when it sent the stream back. */
  let stored = offset;
  let known = offset;
  let granted = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => granted.resolve(), { once: true });

  /** As many whole records as credit, frame and link allow, one at least; null when credit is too short for the next. */
  function take(linkTakes: number): Uint8Array | null {
    const credit = limit - offset;
    const room = Math.min(credit, linkTakes, MAX_PAYLOAD_BYTES);
    let count = 0;
    let bytes = 0;
    for (const record of queue) {
      const fits = bytes + record.length <= room || (count === 0 && record.length <= credit);
      if (!fits) break;
      bytes += record.length;
      count++;
    }
    if (count === 0) return null;
    const payload = Buffer.concat(queue.slice(0, count), bytes);
    queue = queue.slice(count);
    waiting -= bytes;
    return payload;
  }

  /** What is stored is not under way any more. */
  function settle(counts: boolean): void {
    const upTo = Math.min(known, offset);
    if (upTo <= stored) return;
    session.done(upTo - stored, counts);
    stored = upTo;
  }

  return {
    put(record) {
      const encoded = encodeRecord(record);
      queue.push(encoded);
      waiting += encoded.length;
    },
    waiting: () => waiting,
    full: () => waiting >= MAX_PAYLOAD_BYTES,
    async flush() {
      while (queue.length > 0) {
        const linkTakes = await session.writable();
        const payload = signal.aborted ? null : take(linkTakes);
        if (payload) {
          session.sendBytes({ stream, offset, bytes: payload });
          offset += payload.length;
          settle(false);
        } else {
          session.done(0, false);
          signal.throwIfAborted();
          await granted.promise;
          signal.throwIfAborted();
        }
      }
    },
    offset: () => offset,
    allow(newStored, newLimit) {
      known = Math.max(known, newStored);
      settle(true);
      limit = Math.max(limit, newLimit);
      granted.resolve();
      granted = Promise.withResolvers();
      if (signal.aborted) granted.resolve();
    },
    close() {
      session.done(offset - stored, false);
      stored = offset;
    },
  };
}
