import { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { RawData, WebSocket } from 'ws';
import type { Context } from '../context.ts';
import { CLOSE_CODES, handleLink, type LinkServices } from './handleLink.ts';

const AUTH_TIMEOUT_MS = 10_000;
const PING_MS = 10_000;
const SILENCE_TIMEOUT_MS = 25_000;
/** A daemon that does not read is disconnected. */
const SEND_BUFFER_MAX_BYTES = 16 * 1024 * 1024;

export interface Link {
  /** Asks the daemon to disconnect and to reconnect later. */
  drain(reconnectAfterMs: number): void;
  /** Settles after the disconnect, when all pending work is done. */
  closed: Promise<void>;
}

interface LinkWire {
  remoteAddress: string;
  bytesRead(): number;
  /** Called once the daemon has proven who it is. */
  authenticated(): void;
}

/**
 * Serves one WebSocket of a daemon: timeouts, pings, parsing. Any error closes it; the daemon reconnects and reports
 * everything again. `bytesRead` counts the bytes of the connection: on a slow link a long frame shows life by its first
 * bytes, long before it is complete.
 */
export function serveLink(
  ctx: Context,
  socket: WebSocket,
  { remoteAddress, bytesRead, authenticated }: LinkWire,
  shared: LinkServices,
): Link {
  let lastHeardAt = Date.now();
  let lastBytesRead = 0;
  const isOpen = (): boolean => socket.readyState === socket.OPEN;
  const end = (code: number, reason: string): void => {
    if (isOpen()) socket.close(code, reason.slice(0, 120));
  };
  const handler = handleLink(ctx, remoteAddress, shared, {
    isOpen,
    authenticated,
    close: end,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    send(message) {
      if (socket.bufferedAmount > SEND_BUFFER_MAX_BYTES) socket.terminate();
      else if (isOpen()) socket.send(JSON.stringify(message));
    },
  });

  socket.on('message', (data: RawData, isBinary: boolean) => {
    const bytes = data as Buffer;
    if (isBinary) handler.onBytes(bytes);
    else handler.onMessage(parseMessage(bytes));
  });
  const authTimer = setTimeout(() => {
    if (!handler.isAuthenticated()) end(CLOSE_CODES.unknownKey, 'no auth in time');
  }, AUTH_TIMEOUT_MS);
  let pingedAt = Date.now();
  const pings = setInterval(() => {
    // After its own pause this process cannot tell how long the daemon was silent.
    const wasPaused = Date.now() - pingedAt > 2 * PING_MS;
    pingedAt = Date.now();
    if (wasPaused || bytesRead() !== lastBytesRead) {
      lastBytesRead = bytesRead();
      lastHeardAt = Date.now();
    }
    if (Date.now() - lastHeardAt > SILENCE_TIMEOUT_MS) socket.terminate();
    else if (isOpen()) socket.ping();
  }, PING_MS);

  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      clearTimeout(authTimer);
      clearInterval(pings);
      resolve(handler.onClose());
    });
  });
  return { drain: (reconnectAfterMs) => handler.drain(reconnectAfterMs), closed };
}

function parseMessage(bytes: Buffer): DaemonMessage | null {
  try {
    // No text of a daemon needs a NUL, and PostgreSQL stores none.
    return DaemonMessage.parse(JSON.parse(bytes.toString('utf8').replaceAll('\\u0000', '\\ufffd')));
  } catch {
    // Closes the link, see `onMessage`.
    return null;
  }
}
