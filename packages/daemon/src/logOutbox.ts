import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import type { LinkSession } from './linkSession.ts';

const MAX_PAYLOAD_BYTES = 64 * 1024;

/** Packs the records of one log stream into frames, within the credit that the platform grants (flow control). */
export interface LogOutbox {
  put(record: LogRecord): void;
  /** Bytes that are not sent yet. */
  waitingBytes(): number;
  /** At least one full frame waits: flush before putting more. */
  isFull(): boolean;
  /** Waits for credit and resolves when everything was handed to the link. Throws when the signal is aborted. */
  flush(): Promise<void>;
  /** Of the first byte that was not handed to the link yet. */
  offset(): number;
  /** The platform has stored the bytes up to `stored`; those up to `limit` may be sent. Neither ever decreases. */
  grantCredit(stored: number, limit: number): void;
  /** Ends the stream; what was sent no longer counts as in flight. */
  close(): void;
}

export function openLogOutbox(
  session: LinkSession,
  stream: number,
  from: { offset: number; limit: number },
  signal: AbortSignal,
): LogOutbox {
  let { offset, limit } = from;
  let queue: Uint8Array[] = [];
  let waiting = 0;
  /** Acknowledged so far. `known` may lie beyond what was sent, when the platform rewound the stream. */
  let stored = offset;
  let known = offset;
  let creditGranted = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => creditGranted.resolve(), { once: true });

  /** As many whole records as credit, frame and link allow, at least one; null when the credit is too small for it. */
  function takePayload(linkTakes: number): Uint8Array | null {
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

  /** Takes what the platform has stored out of the bytes in flight. */
  function acknowledgeStored(counts: boolean): void {
    const upTo = Math.min(known, offset);
    if (upTo <= stored) return;
    session.acknowledged(upTo - stored, counts);
    stored = upTo;
  }

  return {
    put(record) {
      const encoded = encodeRecord(record);
      queue.push(encoded);
      waiting += encoded.length;
    },
    waitingBytes: () => waiting,
    isFull: () => waiting >= MAX_PAYLOAD_BYTES,
    async flush() {
      while (queue.length > 0) {
        const linkTakes = await session.waitForRoom();
        const payload = signal.aborted ? null : takePayload(linkTakes);
        if (payload) {
          session.sendBytes({ stream, offset, bytes: payload });
          offset += payload.length;
          acknowledgeStored(false);
        } else {
          session.acknowledged(0, false);
          signal.throwIfAborted();
          await creditGranted.promise;
          signal.throwIfAborted();
        }
      }
    },
    offset: () => offset,
    grantCredit(newStored, newLimit) {
      known = Math.max(known, newStored);
      acknowledgeStored(true);
      limit = Math.max(limit, newLimit);
      creditGranted.resolve();
      creditGranted = Promise.withResolvers();
      if (signal.aborted) creditGranted.resolve();
    },
    close() {
      session.acknowledged(offset - stored, false);
      stored = offset;
    },
  };
}
