import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { type DataFrame, encodeFrame } from '@stagi/contract/frames.ts';
import { WebSocket } from 'ws';
import { openPace } from './pace.ts';

const BUFFER_FULL_BYTES = 4 * 1024 * 1024;
const BUFFER_LOW_BYTES = 1024 * 1024;

/** A link that the platform has welcomed. */
export interface Session {
  /** Aborted when the link is gone; after that nothing below does anything. */
  readonly signal: AbortSignal;
  send(message: DaemonMessage): void;
  sendBytes(frame: DataFrame): void;
  /**
   * Resolves to how many bytes of streams the link takes now, at least 1; also when it is gone. Who then sends nothing
   * says so with `done(0, false)`.
   */
  writable(): Promise<number>;
  /** Bytes of a stream are stored, or (`counts` false) need not be waited for any more. */
  done(bytes: number, counts: boolean): void;
}

export function openSession(socket: WebSocket): { session: Session; end(): void } {
  const gone = new AbortController();
  const pace = openPace();
  let waiting: ((room: number) => void)[] = [];
  let isFull = false;

  const room = (): number => {
    if (gone.signal.aborted) return 1;
    if (socket.bufferedAmount > BUFFER_FULL_BYTES) isFull = true;
    else if (socket.bufferedAmount < BUFFER_LOW_BYTES) isFull = false;
    return isFull ? 0 : Math.floor(pace.room());
  };
  /** One at a time: what it sends, or that it sends nothing after all, lets the next one in. */
  const release = () => {
    const now = room();
    if (now > 0) waiting.shift()?.(now);
  };
  return {
    session: {
      signal: gone.signal,
      send(message) {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message), release);
      },
      sendBytes(frame) {
        if (socket.readyState !== WebSocket.OPEN) return;
        pace.sent(frame.bytes.length);
        socket.send(encodeFrame(frame), release);
      },
      writable() {
        const now = room();
        if (now > 0 && waiting.length === 0) return Promise.resolve(now);
        const { promise, resolve } = Promise.withResolvers<number>();
        waiting.push(resolve);
        return promise;
      },
      done(bytes, counts) {
        pace.done(bytes, counts);
        release();
      },
    },
    end() {
      gone.abort();
      const those = waiting;
      waiting = [];
      for (const resolve of those) resolve(1);
    },
  };
}
