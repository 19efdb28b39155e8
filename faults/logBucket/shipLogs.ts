import { setTimeout as pause } from 'node:timers/promises';
import { PlatformMessage } from '@stagi/contract/daemon.ts';
import { encodeRecord } from '@stagi/contract/frames.ts';
import { connectDaemon, type NodeKey, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';

/** All that one container prints, as its daemon sends it. */
export interface Log {
  containerId: number;
  lines: number;
  bytes: Buffer;
}

/** Ten hours of log. */
const SPAN_NS = 36_000_000_000_000n;
const BEGAN_NS = BigInt(Date.now() - 36_000_000) * 1_000_000n;

export function makeLog(containerId: number, lines: number): Log {
  const step = SPAN_NS / BigInt(lines);
  const records: Uint8Array[] = [];
  for (let seq = 1; seq <= lines; seq += 1) {
    records.push(
      encodeRecord({
        timeNs: BEGAN_NS + BigInt(seq) * step,
        stream: seq % 7 === 0 ? 'stderr' : 'stdout',
        partial: false,
        text: Buffer.from(textOf(containerId, seq)),
      }),
    );
  }
  return { containerId, lines, bytes: Buffer.concat(records) };
}

/** Says what and where it is; some lines are longer. */
export const textOf = (containerId: number, seq: number): string =>
  `container ${containerId} line ${seq} ${'.'.repeat((seq * 31) % 97)}`;

const FRAME_BYTES = 60_000;
const RETRY_MS = 100;

/** Ships all logs over one link at a time until every byte is acknowledged, however often the platform dies. */
export async function shipLogs(
  url: string,
  key: NodeKey,
  logs: readonly Log[],
  signal: AbortSignal,
): Promise<{ links: number }> {
  let links = 0;
  while (!signal.aborted) {
    const daemon = await connectDaemon(url, key).catch(() => null);
    if (daemon) {
      links += 1;
      if (await shipOverLink(daemon, logs, signal)) {
        await daemon.close();
        return { links };
      }
    }
    await pause(RETRY_MS);
  }
  return { links };
}

/** True when everything is acknowledged, false when the link has ended before. */
async function shipOverLink(daemon: TestDaemon, logs: readonly Log[], signal: AbortSignal): Promise<boolean> {
  const streams = logs.map((log, index) => ({ log, number: index + 1, sent: 0, acknowledged: 0 }));
  const done = new Promise<true>((resolve) => {
    daemon.socket.on('message', (data: Buffer) => {
      const message = PlatformMessage.parse(JSON.parse(data.toString()));
      if (message.type !== 'log-resume' && message.type !== 'credit') return;
      const stream = streams[message.stream - 1]!;
      const resumes = message.type === 'log-resume';
      const offset = resumes ? message.cursor.offset : message.offset;
      const limit = offset + (resumes ? message.credit : message.bytes);
      if (resumes) stream.sent = offset;
      stream.acknowledged = offset;
      const end = Math.min(limit, stream.log.bytes.length);
      while (stream.sent < end) {
        const bytes = stream.log.bytes.subarray(stream.sent, Math.min(end, stream.sent + FRAME_BYTES));
        daemon.sendBytes(stream.number, stream.sent, bytes);
        stream.sent += bytes.length;
      }
      if (streams.every(({ log, acknowledged }) => acknowledged === log.bytes.length)) resolve(true);
    });
  });
  for (const { log, number } of streams) {
    daemon.send({ type: 'log-open', stream: number, containerId: log.containerId, epoch: 'docker id' });
  }
  const beats = setInterval(() => daemon.send({ type: 'heartbeat', at: new Date().toISOString() }), 5_000);
  const aborted = new Promise<false>((resolve) => signal.addEventListener('abort', () => resolve(false)));
  const isDone = await Promise.race([done, daemon.closed.then(() => false), aborted]);
  clearInterval(beats);
  if (!isDone) daemon.socket.terminate();
  return isDone;
}
