import { type Shell, type TerminalControl, TerminalMessage, type TerminalSize } from '@stagi/contract/terminals.ts';
import { openStream } from '../api/stream.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** What a terminal is of. */
export interface Place {
  type: 'docker-container' | 'instance-rented' | 'self-hosted-instance';
  id: number;
}

export type ConnectionState =
  | { is: 'connecting' }
  /** `resumed`: it was lost before; `dropped`: bytes of output that were not kept. */
  | { is: 'live'; resumed: boolean; dropped: number }
  /** `retryAt`: when the next attempt is, by `Date.now()`. `reason`: what the server said. */
  | { is: 'lost'; retryAt: number; reason: string | null }
  | { is: 'ended'; code: number | null; reason: string | null }
  | { is: 'refused'; message: string }
  /** The session of the person or their access has ended. */
  | { is: 'noAccess' };

interface Handlers {
  state(state: ConnectionState): void;
  shell(name: string): void;
  /** The offset of its end. */
  output(bytes: Uint8Array, end: number): void;
  /** Output up to here is shown once more: another page has answered what it asks of a terminal. */
  replayed(to: number): void;
  /** What follows does not continue what came before. */
  restarted(dropped: number): void;
  size(): TerminalSize;
}

export interface Connection {
  type(input: string): void;
  typeBytes(input: Uint8Array<ArrayBuffer>): void;
  resize(size: TerminalSize): void;
  /** Output up to here is shown: more may come. */
  shown(offset: number): void;
  retry(): void;
  /** Ends the shell. */
  end(): void;
  /** Leaves the shell running; the server keeps it for two minutes. */
  leave(): void;
}

/**
 * Connects with a shell, and again whenever the connection is lost: at the byte that arrived last. `isResumed`: it was
 * started before, by an earlier page.
 */
export function connectTerminal(
  place: Place,
  { session, shell, isResumed }: { session: string; shell: Shell | null; isResumed: boolean },
  on: Handlers,
): Connection {
  let offset = 0;
  let isStarted = isResumed;
  let wasLost = isResumed;
  let reason: string | null = null;
  let isOver = false;

  const stream = openStream(`${place.type}/${place.id}/terminal`, {
    firstWaitMs: FIRST_WAIT_MS,
    longestWaitMs: LONGEST_WAIT_MS,
    settles: true,
    query() {
      const { cols, rows } = on.size();
      return {
        session,
        cols: String(cols),
        rows: String(rows),
        ...(shell ? { shell } : {}),
        ...(isStarted ? { offset: String(offset) } : {}),
      };
    },
    opened() {},
    lost(retryInMs) {
      wasLost ||= isStarted;
      on.state({ is: 'lost', retryAt: Date.now() + retryInMs, reason });
    },
    refused: () => over({ is: 'noAccess' }),
    bytes(bytes) {
      offset += bytes.length;
      on.output(bytes, offset);
    },
    message: (received) => take(TerminalMessage.parse(received)),
  });

  function take(message: TerminalMessage): void {
    switch (message.type) {
      case 'opened':
      case 'resumed': {
        isStarted = true;
        reason = null;
        stream.settle();
        const dropped = message.type === 'resumed' ? message.dropped : 0;
        const from = message.type === 'resumed' ? message.offset : 0;
        if (message.type === 'resumed' && offset === 0) on.replayed(message.answered);
        if (from !== offset) on.restarted(dropped);
        offset = from;
        on.shell(message.shell);
        on.state({ is: 'live', resumed: wasLost, dropped });
        return;
      }
      case 'exit':
        over({ is: 'ended', code: message.code, reason: message.reason });
        return;
      case 'refused':
        if (message.retry) {
          reason = message.message;
          stream.reconnectLater();
        } else over({ is: 'refused', message: message.message });
        return;
      case 'lost':
        stream.reconnectLater();
        return;
      case 'ping':
        return;
      default:
        message satisfies never;
    }
  }

  function over(state: ConnectionState): void {
    if (isOver) return;
    isOver = true;
    stream.close();
    on.state(state);
  }

  const tell = (control: TerminalControl): void => stream.send(JSON.stringify(control));
  return {
    type: (input) => stream.send(new TextEncoder().encode(input)),
    typeBytes: (input) => stream.send(input),
    resize: (size) => tell({ type: 'resize', ...size }),
    shown: (at) => tell({ type: 'shown', offset: at }),
    retry: stream.reconnect,
    end() {
      isOver = true;
      tell({ type: 'close' });
      // Lets the message go out first.
      window.setTimeout(stream.close, 200);
    },
    leave() {
      isOver = true;
      stream.close();
    },
  };
}
