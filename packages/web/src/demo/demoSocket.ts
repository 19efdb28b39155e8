import { STREAM_PING_MS } from '@stagi/contract/streams.ts';
import type { Socket } from '../api/stream.ts';
import { answerOf, NO_TERMINAL } from './answers.ts';
import { recordingOf } from './recording.ts';

const NEXT_LINE_MS = 2_500;

/** Stands in for a stream of the platform. Nothing is sent anywhere, and no stream is ever lost. */
export function demoSocket(url: string): Socket {
  const { pathname, searchParams } = new URL(url);
  const timers: number[] = [];
  const socket: Socket = {
    binaryType: 'blob',
    readyState: WebSocket.OPEN,
    onopen: null,
    onmessage: null,
    onclose: null,
    send: () => {},
    close() {
      for (const timer of timers) window.clearInterval(timer);
    },
  };
  const say = (message: object) => socket.onmessage?.({ data: JSON.stringify(message) });
  queueMicrotask(() => {
    socket.onopen?.();
    if (pathname.endsWith('/terminal')) say({ type: 'refused', message: NO_TERMINAL, retry: false });
    if (pathname.endsWith('/logging/tail')) void tell(searchParams);
  });
  timers.push(window.setInterval(() => say({ type: 'ping' }), STREAM_PING_MS));
  return socket;

  /** The log of what still runs goes on, with the lines that it was recorded with. */
  async function tell(asked: URLSearchParams): Promise<void> {
    const source = {
      type: asked.get('type'),
      id: Number(asked.get('id')),
      ...(asked.has('run') && { run: Number(asked.get('run')) }),
    };
    const { answers } = await recordingOf('logging/query');
    const log = answerOf(answers, 'logging/query', { source }) as {
      lines: { text: string; stream: string }[];
      runs: { endedAt: string | null }[];
    } | null;
    if (!log || log.lines.length === 0 || log.runs.at(-1)?.endedAt !== null) return;
    let seq = Number(asked.get('after'));
    timers.push(
      window.setInterval(() => {
        seq += 1;
        const { text, stream } = log.lines[seq % log.lines.length]!;
        const time = new Date().toISOString().replace('Z', '000000Z');
        say({ type: 'lines', lines: [{ seq, time, stream, text }], gaps: [] });
      }, NEXT_LINE_MS),
    );
  }
}
