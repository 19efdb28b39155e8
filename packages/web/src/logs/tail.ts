import { type LogSource, TailMessage } from '@stagi/contract/logging.ts';
import { openStream } from '../api/stream.ts';

interface Handlers {
  message(message: TailMessage): void;
  state(state: 'live' | 'reconnecting' | 'ended'): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/**
 * Streams lines after `after`, then live ones, and reconnects when the connection is lost. Each connection resumes after
 * the last line that arrived, so no line is lost or doubled.
 */
export function openTail(source: LogSource, after: number, on: Handlers): { retry(): void; close(): void } {
  let last = after;
  const named = Object.entries(source).map(([name, value]) => [name, String(value)]);
  const stream = openStream('logging/tail', {
    firstWaitMs: FIRST_WAIT_MS,
    longestWaitMs: LONGEST_WAIT_MS,
    query: () => ({ ...Object.fromEntries(named), after: String(last) }),
    opened: () => on.state('live'),
    lost: () => on.state('reconnecting'),
    refused: () => on.state('ended'),
    message(received) {
      const message = TailMessage.parse(received);
      if (message.type === 'ping') return;
      last = Math.max(last, message.type === 'skipped' ? message.toSeq : (message.lines.at(-1)?.seq ?? 0));
      on.message(message);
    },
  });
  return { retry: stream.reconnect, close: stream.close };
}
