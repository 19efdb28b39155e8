import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { STREAM_CLOSE, STREAM_PING_MS } from '@stagi/contract/streams.ts';
import { apiUrl, call } from './client.ts';
import { leaveRemovedWorkspace } from './user.ts';

/** A stream that is silent for this long is dead: the server pings. */
const SILENT_MAX_MS = STREAM_PING_MS + 10_000;
/** After a restart of the server its streams come back spread over this time. */
const RESTART_SPREAD_MS = 4_000;
/** Several events tell of one waking up; the first of them reconnects. */
const WAKE_ONCE_MS = 1_000;
/** A stream that was open for less is reopened after the usual wait, so that no server is asked without a pause. */
const AT_ONCE_AFTER_MS = 1_000;

/** What is used of a WebSocket. */
export type Socket = Pick<WebSocket, 'binaryType' | 'readyState' | 'send' | 'close'> & {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((end: { code: number }) => void) | null;
};

/** How a stream is opened. The demo, which has no server, replaces it. */
export const sockets = { open: (url: string): Socket => new WebSocket(url) as Socket };

interface StreamOptions {
  /** The query parameters beside the ticket, read at each attempt. */
  query?(): Record<string, string>;
  /** The wait before the second attempt; it doubles up to the longest. */
  firstWaitMs: number;
  longestWaitMs: number;
  opened(): void;
  /** No stream for now. Called at each failed attempt, with the time until the next. */
  lost(retryInMs: number): void;
  message(message: unknown): void;
  bytes?(bytes: Uint8Array): void;
  /** The waits go on growing after a stream opens, until `settle` is called: what it leads to may still be away. */
  settles?: boolean;
  /** There will be no stream. Without this a refused stream is tried again like any other. */
  refused?(): void;
}

export interface OpenStream {
  reconnect(): void;
  /** After the usual wait. */
  reconnectLater(): void;
  settle(): void;
  /** Does nothing while the stream is not open. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/**
 * Keeps a WebSocket of the server open. It reconnects with growing, random waits; at once when the tab wakes up or the
 * network is back. What was sent meanwhile is lost: `opened` reads it again.
 */
export function openStream(path: string, on: StreamOptions): OpenStream {
  /** The attempt or the open stream; aborted once it is over. */
  let current = new AbortController();
  let socket: Socket | null = null;
  let state: 'connecting' | 'open' | 'waiting' = 'connecting';
  let begunAt = 0;
  let heardAt = 0;
  let wokenAt = 0;
  let wait = on.firstWaitMs;
  /** A refused opening has been repeated without a wait, and no stream has opened since. */
  let hasRepeated = false;
  let timer: number | undefined;

  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake(), { signal });
  // The browser had frozen the tab, or kept it for Back.
  document.addEventListener('resume', wake, { signal });
  window.addEventListener('pageshow', ({ persisted }) => persisted && wake(), { signal });
  // What was open on the network before may be dead without anything telling so.
  window.addEventListener('online', restart, { signal });
  connect();
  return {
    reconnect: restart,
    reconnectLater: () => retryAfter(pause()),
    settle() {
      wait = on.firstWaitMs;
    },
    send(data) {
      if (state === 'open' && socket?.readyState === WebSocket.OPEN) socket.send(data);
    },
    close() {
      listening.abort();
      end();
    },
  };

  function wake(): void {
    wokenAt = Date.now();
    if (state === 'waiting' || Date.now() - heardAt > SILENT_MAX_MS) restart();
  }

  function hasJustWoken(): boolean {
    return Date.now() - wokenAt < WAKE_ONCE_MS;
  }

  function restart(): void {
    if (signal.aborted) return;
    if (state !== 'waiting' && Date.now() - begunAt < WAKE_ONCE_MS) return;
    if (state !== 'waiting') on.lost(0);
    wait = on.firstWaitMs;
    connect();
  }

  function end(): void {
    current.abort();
    window.clearTimeout(timer);
  }

  function connect(): void {
    end();
    const attempt = new AbortController();
    current = attempt;
    state = 'connecting';
    begunAt = Date.now();
    heard();
    call(api.auth.streamTicket, {}, { quiet: true, signal: attempt.signal }).then(
      ({ ticket }) => open(ticket, attempt),
      (cause: unknown) => {
        if (attempt.signal.aborted) return;
        console.debug(`No stream of ${path} for now`, cause);
        if (on.refused && cause instanceof CallError && (cause.status === 403 || cause.status === 404)) refuse();
        else retryAfter(pause());
      },
    );
  }

  function open(ticket: string, attempt: AbortController): void {
    if (attempt.signal.aborted) return;
    const opening = sockets.open(`${apiUrl(path, 'ws')}?${new URLSearchParams({ ...on.query?.(), ticket })}`);
    socket = opening;
    opening.binaryType = 'arraybuffer';
    attempt.signal.addEventListener('abort', () => opening.close());
    opening.onopen = () => {
      if (attempt.signal.aborted) return;
      state = 'open';
      hasRepeated = false;
      if (!on.settles) wait = on.firstWaitMs;
      heard();
      on.opened();
    };
    opening.onmessage = ({ data }) => {
      if (attempt.signal.aborted) return;
      heard();
      if (data instanceof ArrayBuffer) return on.bytes?.(new Uint8Array(data));
      const message: unknown = JSON.parse(String(data));
      if (!isPing(message)) on.message(message);
    };
    opening.onclose = ({ code }) => {
      if (!attempt.signal.aborted) closed(code);
    };
  }

  function closed(code: number): void {
    const { signedOut, noAccess, workspaceGone, restarting } = STREAM_CLOSE;
    if (on.refused && (code === signedOut || code === noAccess || code === workspaceGone)) refuse();
    // Asking for a ticket signs out, unless there is another session by now. What closes at waking up was lost before.
    else if ((code === signedOut || hasJustWoken()) && Date.now() - begunAt > AT_ONCE_AFTER_MS) retryAfter(0);
    else if (code === restarting) retryAfter(Math.random() * RESTART_SPREAD_MS);
    else if (state === 'connecting' && !hasRepeated) {
      // Access may have ended between the ticket and the opening: the next call for a ticket tells.
      hasRepeated = true;
      retryAfter(0);
    } else retryAfter(pause());
    if (code === workspaceGone) leaveRemovedWorkspace({ quiet: true });
  }

  function refuse(): void {
    listening.abort();
    end();
    on.refused?.();
  }

  function pause(): number {
    const ms = wait * (0.75 + Math.random() / 2);
    wait = Math.min(wait * 2, on.longestWaitMs);
    return ms;
  }

  function retryAfter(ms: number): void {
    end();
    state = 'waiting';
    on.lost(ms);
    timer = window.setTimeout(connect, ms);
  }

  function heard(): void {
    heardAt = Date.now();
    window.clearTimeout(timer);
    timer = window.setTimeout(() => retryAfter(0), SILENT_MAX_MS);
  }
}

const isPing = (message: unknown): boolean => (message as { type?: unknown } | null)?.type === 'ping';
