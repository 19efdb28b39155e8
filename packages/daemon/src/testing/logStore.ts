import {
  type DaemonMessage,
  type LogCursor,
  type PlatformMessage,
  STREAM_CREDIT_BYTES,
} from '@stagi/contract/daemon.ts';
import { type DataFrame, decodeRecords } from '@stagi/contract/frames.ts';

/** What the platform has stored of one container's log. */
export interface StoredLog {
  containerId: number;
  lines: { timeNs: bigint; stream: 'stdout' | 'stderr'; partial: boolean; text: string; receivedAt: number }[];
  gaps: Extract<DaemonMessage, { type: 'log-gap' }>[];
  cursor: LogCursor;
  /** How many times the daemon reported the end of the stream. */
  ends: number;
}

/** Receives log streams as the contract says: contiguous offsets, credit after storing, a cursor to resume from. */
export interface LogStore {
  byEpoch: Map<string, StoredLog>;
  of(containerId: number): StoredLog;
  /** Broken rules of the protocol. */
  faults: string[];
  /** With `grant` false a stream gets only its first credit, of this many bytes. */
  policy: { grant: boolean; firstCredit: number };
  grantAll(): void;
  /** Rewinds the open stream of a container to its first `count` records. */
  rewind(containerId: number, count: number): void;
  newLink(epoch: number): void;
  control(message: DaemonMessage): void;
  frame(frame: DataFrame): void;
}

interface Stream {
  stored: StoredLog;
  /** The daemon may send bytes up to this offset. */
  limit: number;
  /** Rewound: frames that were in flight are dropped. */
  awaitingResume: boolean;
}

export function openLogStore(send: (message: PlatformMessage) => void): LogStore {
  const byEpoch = new Map<string, StoredLog>();
  let streams = new Map<number, Stream>();
  let epoch = 0;
  const faults: string[] = [];
  const policy = { grant: true, firstCredit: STREAM_CREDIT_BYTES };

  function grant(number: number, stream: Stream): void {
    const { offset } = stream.stored.cursor;
    if (!policy.grant) return;
    stream.limit = offset + STREAM_CREDIT_BYTES;
    send({ type: 'credit', epoch, stream: number, offset, bytes: STREAM_CREDIT_BYTES });
  }
  return {
    byEpoch,
    faults,
    policy,
    of(containerId) {
      const stored = [...byEpoch.values()].find((one) => one.containerId === containerId);
      return (
        stored ?? { containerId, lines: [], gaps: [], cursor: { offset: 0, timeNs: null, recordsAtTime: 0 }, ends: 0 }
      );
    },
    grantAll() {
      for (const [number, stream] of streams) grant(number, stream);
    },
    rewind(containerId, count) {
      for (const [number, stream] of streams) {
        if (stream.stored.containerId !== containerId) continue;
        const { stored } = stream;
        stored.lines.splice(count);
        const timeNs = stored.lines.at(-1)!.timeNs;
        const offset = stored.lines.reduce((sum, { text }) => sum + 13 + Buffer.byteLength(text), 0);
        const recordsAtTime = stored.lines.filter((line) => line.timeNs === timeNs).length;
        stored.cursor = { offset, timeNs: String(timeNs), recordsAtTime };
        stream.limit = offset + STREAM_CREDIT_BYTES;
        stream.awaitingResume = true;
        send({ type: 'log-resume', epoch, stream: number, cursor: { ...stored.cursor }, credit: STREAM_CREDIT_BYTES });
      }
    },
    newLink(number) {
      epoch = number;
      streams = new Map();
    },
    control(message) {
      if (message.type === 'log-open') {
        if (streams.has(message.stream)) faults.push(`stream ${message.stream} was opened twice`);
        const stored = byEpoch.get(message.epoch) ?? {
          containerId: message.containerId,
          lines: [],
          gaps: [],
          cursor: { offset: 0, timeNs: null, recordsAtTime: 0 },
          ends: 0,
        };
        byEpoch.set(message.epoch, stored);
        streams.set(message.stream, {
          stored,
          limit: stored.cursor.offset + policy.firstCredit,
          awaitingResume: false,
        });
        send({
          type: 'log-resume',
          epoch,
          stream: message.stream,
          cursor: { ...stored.cursor },
          credit: policy.firstCredit,
        });
      } else if (message.type === 'log-gap') {
        streams.get(message.stream)?.stored.gaps.push(message);
      } else if (message.type === 'log-end') {
        const stream = streams.get(message.stream);
        if (stream) stream.stored.ends++;
        streams.delete(message.stream);
      }
    },
    frame({ stream: number, offset, bytes }) {
      const stream = streams.get(number);
      if (!stream) return void faults.push(`a frame of the unknown stream ${number}`);
      const { stored } = stream;
      if (stream.awaitingResume && offset !== stored.cursor.offset) return;
      stream.awaitingResume = false;
      if (offset !== stored.cursor.offset) faults.push(`offset ${offset} where ${stored.cursor.offset} was due`);
      if (bytes.length > 64 * 1024) faults.push(`a payload of ${bytes.length} bytes`);
      if (offset + bytes.length > stream.limit) faults.push('more was sent than credit was granted');
      const { records, consumed } = decodeRecords(bytes);
      if (consumed !== bytes.length) faults.push('a record was cut in two');
      for (const record of records) {
        const timeNs = String(record.timeNs);
        stored.cursor.recordsAtTime = stored.cursor.timeNs === timeNs ? stored.cursor.recordsAtTime + 1 : 1;
        stored.cursor.timeNs = timeNs;
        stored.lines.push({
          timeNs: record.timeNs,
          stream: record.stream,
          partial: record.partial,
          text: Buffer.from(record.text).toString(),
          receivedAt: Date.now(),
        });
      }
      stored.cursor.offset += bytes.length;
      grant(number, stream);
    },
  };
}
