import { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { RawData, WebSocket } from 'ws';
import type { Context } from '../context.ts';
import { CLOSE, converse, type Shared } from './conversation.ts';

const AUTH_WITHIN_MS = 10_000;
const PING_MS = 10_000;
const SILENT_MAX_MS = 25_000;
/** A daemon that does not take what it is sent is as good as gone. */
const UNSENT_MAX_BYTES = 16 * 1024 * 1024;

export interface Link {
  /** Asks the daemon to leave and to come back later. */
  drain(reconnectAfterMs: number): void;
  /** Settles when the connection is over and everything it began is done. */
  over: Promise<void>;
}

/**
 * One connection of one daemon. Whatever goes wrong here ends it; the daemon comes back and tells everything again.
 * `bytesRead` counts what came over the wire: a long frame on a slow link is a sign of life long before its end.
 */
export function serveLink(
  ctx: Context,
  socket: WebSocket,
  { remoteAddress, bytesRead }: { remoteAddress: string; bytesRead(): number },
  shared: Shared,
): Link {
  let heardAt = Date.now();
  let heardBytes = 0;
  const isOpen = (): boolean => socket.readyState === socket.OPEN;
  const end = (code: number, reason: string): void => {
    if (isOpen()) socket.close(code, reason.slice(0, 120));
  };
  const conversation = converse(ctx, remoteAddress, shared, {
    isOpen,
    end,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    send(message) {
      if (socket.bufferedAmount > UNSENT_MAX_BYTES) socket.terminate();
      else if (isOpen()) socket.send(JSON.stringify(message));
    },
  });

  socket.on('message', (data: RawData, isBinary: boolean) => {
    const bytes = data as Buffer;
    if (isBinary) conversation.bytes(bytes);
    else conversation.take(parse(bytes));
  });
  const authTimer = setTimeout(() => {
    if (!conversation.isAuthenticated()) end(CLOSE.notKnown, 'no auth in time');
  }, AUTH_WITHIN_MS);
  let pingedAt = Date.now();
  const pings = setInterval(() => {
    // Who slept himself cannot tell who was silent.
    const slept = Date.now() - pingedAt > 2 * PING_MS;
    pingedAt = Date.now();
    if (slept || bytesRead() !== heardBytes) {
      heardBytes = bytesRead();
      heardAt = Date.now();
    }
    if (Date.now() - heardAt > SILENT_MAX_MS) socket.terminate();
    else if (isOpen()) socket.ping();
  }, PING_MS);

  const over = new Promise<void>((resolve) => {
    socket.on('close', () => {
      clearTimeout(authTimer);
      clearInterval(pings);
      resolve(conversation.finish());
    });
  });
  return { drain: (reconnectAfterMs) => conversation.drain(reconnectAfterMs), over };
}

function parse(bytes: Buffer): DaemonMessage | null {
  try {
    // No text of a daemon needs a NUL, and PostgreSQL stores none.
    return DaemonMessage.parse(JSON.parse(bytes.toString('utf8').replaceAll('\\u0000', '\\ufffd')));
  } catch {
    // The link is closed for it: there is nothing to answer to what cannot be read.
    return null;
  }
}
