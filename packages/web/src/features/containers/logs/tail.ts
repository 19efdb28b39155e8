import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { TailMessage } from '@stagi/contract/logging.ts';
import { apiUrl, call } from '../../../api/client.ts';

interface Handlers {
  message(message: TailMessage): void;
  state(state: 'live' | 'reconnecting' | 'ended'): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The server says something at least every 15 seconds. */
const SILENT_MAX_MS = 40_000;
/** The session or the permission was revoked. */
const NO_ACCESS = 4401;

/**
 * Streams lines after `after`, then live ones, and reconnects when the connection is lost. Each connection resumes after
 * the last line that arrived, so no line is lost or doubled.
 */
export function openTail(containerId: number, after: number, on: Handlers): { retry(): void; close(): void } {
  let last = after;
  let socket: WebSocket | null = null;
  let stopped = false;
  let connecting = false;
  let wait = FIRST_WAIT_MS;
  let timer: number | undefined;
  let silence: number | undefined;

  const now = () => reconnect(0);
  window.addEventListener('online', now);
  void connect();
  return {
    retry: now,
    close() {
      stopped = true;
      window.removeEventListener('online', now);
      window.clearTimeout(timer);
      window.clearTimeout(silence);
      socket?.close();
    },
  };

  async function connect(): Promise<void> {
    connecting = true;
    try {
      const { ticket } = await call(api.auth.streamTicket, {}, { quiet: true });
      connecting = false;
      if (!stopped) open(ticket);
    } catch (cause) {
      connecting = false;
      if (cause instanceof CallError && (cause.status === 403 || cause.status === 404)) end();
      else reconnect(wait);
    }
  }

  function open(ticket: string): void {
    const params = new URLSearchParams({
      ticket,
      type: 'docker-container',
      id: String(containerId),
      after: String(last),
    });
    const opened = new WebSocket(`${apiUrl('logging/tail', 'ws')}?${params}`);
    socket = opened;
    opened.onopen = () => {
      wait = FIRST_WAIT_MS;
      on.state('live');
      restartSilenceTimer(opened);
    };
    opened.onmessage = ({ data }) => {
      restartSilenceTimer(opened);
      onMessage(TailMessage.parse(JSON.parse(String(data))));
    };
    opened.onclose = ({ code }) => {
      if (socket !== opened || stopped) return;
      socket = null;
      window.clearTimeout(silence);
      if (code === NO_ACCESS) end();
      else reconnect(wait);
    };
  }

  function onMessage(message: TailMessage): void {
    if (message.type === 'ping') return;
    last = Math.max(last, message.type === 'skipped' ? message.toSeq : (message.lines.at(-1)?.seq ?? 0));
    on.message(message);
  }

  function restartSilenceTimer(opened: WebSocket): void {
    window.clearTimeout(silence);
    silence = window.setTimeout(() => {
      // On a dead network the close handshake would not be answered.
      socket = null;
      opened.close();
      reconnect(wait);
    }, SILENT_MAX_MS);
  }

  function reconnect(delay: number): void {
    if (stopped || socket || connecting) return;
    on.state('reconnecting');
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void connect(), delay * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }

  function end(): void {
    stopped = true;
    on.state('ended');
  }
}
