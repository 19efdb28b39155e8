import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { type DataFrame, encodeFrame } from '@stagi/contract/frames.ts';
import { WebSocket } from 'ws';
import { openCongestionWindow } from './congestionWindow.ts';

const BUFFER_FULL_BYTES = 4 * 1024 * 1024;
const BUFFER_LOW_BYTES = 1024 * 1024;
/** With more than this waiting, the link is congested. */
const BUFFER_IDLE_BYTES = 64 * 1024;

/** An open link to the platform, with backpressure for the bytes of log streams. */
export interface LinkSession {
  /** Aborted on a disconnect; after that the methods do nothing. */
  readonly signal: AbortSignal;
  send(message: DaemonMessage): void;
  /** Sends it unless other messages and bytes already wait for the network. */
  sendIfIdle(message: DaemonMessage): void;
  sendBytes(frame: DataFrame): void;
  /**
   * Resolves to how many bytes of streams the link takes now, at least 1, also after a disconnect. A caller that then
   * sends nothing must call `acknowledged(0, false)`, to let the next one in.
   */
  waitForRoom(): Promise<number>;
  /** Bytes of a stream are stored, or were dropped (`counts` false). */
  acknowledged(bytes: number, counts: boolean): void;
}

export function openLinkSession(socket: WebSocket): { session: LinkSession; end(): void } {
  const closed = new AbortController();
  const congestion = openCongestionWindow();
  let waiting: ((room: number) => void)[] = [];
  let isFull = false;

  const room = (): number => {
    if (closed.signal.aborted) return 1;
    if (socket.bufferedAmount > BUFFER_FULL_BYTES) isFull = true;
    else if (socket.bufferedAmount < BUFFER_LOW_BYTES) isFull = false;
    return isFull ? 0 : Math.floor(congestion.available());
  };
  /** Wakes one waiter at a time: its own sending, or `acknowledged`, wakes the next. */
  const release = () => {
    const now = room();
    if (now > 0) waiting.shift()?.(now);
  };
  return {
    session: {
      signal: closed.signal,
      send(message) {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message), release);
      },
      sendIfIdle(message) {
        if (socket.bufferedAmount <= BUFFER_IDLE_BYTES) this.send(message);
      },
      sendBytes(frame) {
        if (socket.readyState !== WebSocket.OPEN) return;
        congestion.sent(frame.bytes.length);
        socket.send(encodeFrame(frame), release);
      },
      waitForRoom() {
        const now = room();
        if (now > 0 && waiting.length === 0) return Promise.resolve(now);
        const { promise, resolve } = Promise.withResolvers<number>();
        waiting.push(resolve);
        return promise;
      },
      acknowledged(bytes, counts) {
        congestion.acknowledged(bytes, counts);
        release();
      },
    },
    end() {
      closed.abort();
      const those = waiting;
      waiting = [];
      for (const resolve of those) resolve(1);
    },
  };
}
