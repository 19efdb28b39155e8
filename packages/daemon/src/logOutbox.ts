import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import type { Session } from './connection.ts';

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
  /** The stream may go as far as this offset; replaces what was granted before. */
  allow(limit: number): void;
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
  let granted = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => granted.resolve(), { once: true });

  /** As many whole records as credit and frame allow; empty when credit is too short for the next. */
  function take(): Uint8Array | null {
    const room = Math.min(limit - offset, MAX_PAYLOAD_BYTES);
    let count = 0;
    let bytes = 0;
    for (const record of queue) {
      if (bytes + record.length > room) break;
      bytes += record.length;
      count++;
    }
    if (count === 0) return null;
    const payload = Buffer.concat(queue.slice(0, count), bytes);
    queue = queue.slice(count);
    waiting -= bytes;
    return payload;
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
        await session.writable();
        signal.throwIfAborted();
        const payload = take();
        if (payload) {
          session.sendBytes({ stream, offset, bytes: payload });
          offset += payload.length;
        } else {
          await granted.promise;
        }
      }
    },
    offset: () => offset,
    allow(newLimit) {
      limit = newLimit;
      granted.resolve();
      granted = Promise.withResolvers();
      if (signal.aborted) granted.resolve();
    },
  };
}
