import {
  type DaemonMessage,
  type LogCursor,
  type PlatformMessage,
  STREAM_CREDIT_BYTES,
} from '@stagi/contract/daemon.ts';
import { type DataFrame, decodeRecords } from '@stagi/contract/frames.ts';

/** What a platform keeps of one container's log. */
export interface Kept {
  containerId: number;
  lines: { timeNs: bigint; stream: 'stdout' | 'stderr'; partial: boolean; text: string; heardAt: number }[];
  gaps: Extract<DaemonMessage, { type: 'log-gap' }>[];
  cursor: LogCursor;
  /** How often the stream was told to have ended. */
  ends: number;
}

/** Stores streams as the contract asks: contiguous offsets, credit for what was stored, a cursor to resume from. */
export interface LogBook {
  byEpoch: Map<string, Kept>;
  of(containerId: number): Kept;
  /** Broken rules of the protocol. */
  faults: string[];
  /** While false nothing more is granted than a stream's first credit, and that is this many bytes. */
  policy: { grant: boolean; firstCredit: number };
  grantAll(): void;
  /** Sends the open stream of a container back to behind its first `count` records. */
  rewind(containerId: number, count: number): void;
  newLink(epoch: number): void;
  control(message: DaemonMessage): void;
  frame(frame: DataFrame): void;
}

interface Stream {
  kept: Kept;
  /** Up to which offset the daemon may send. */
  limit: number;
  /** Frames that were on their way when it was sent back do not count. */
  rewound: boolean;
}

export function logBook(send: (message: PlatformMessage) => void): LogBook {
  const byEpoch = new Map<string, Kept>();
  let streams = new Map<number, Stream>();
  let epoch = 0;
  const faults: string[] = [];
  const policy = { grant: true, firstCredit: STREAM_CREDIT_BYTES };

  function grant(number: number, stream: Stream): void {
    const { offset } = stream.kept.cursor;
    if (!policy.grant) return;
    stream.limit = offset + STREAM_CREDIT_BYTES;
    send({ type: 'credit', epoch, stream: number, offset, bytes: STREAM_CREDIT_BYTES });
  }
  return {
    byEpoch,
    faults,
    policy,
    of(containerId) {
      const kept = [...byEpoch.values()].find((one) => one.containerId === containerId);
      return (
        kept ?? { containerId, lines: [], gaps: [], cursor: { offset: 0, timeNs: null, recordsAtTime: 0 }, ends: 0 }
      );
    },
    grantAll() {
      for (const [number, stream] of streams) grant(number, stream);
    },
    rewind(containerId, count) {
      for (const [number, stream] of streams) {
        if (stream.kept.containerId !== containerId) continue;
        const { kept } = stream;
        kept.lines.splice(count);
        const timeNs = kept.lines.at(-1)!.timeNs;
        const offset = kept.lines.reduce((sum, { text }) => sum + 13 + Buffer.byteLength(text), 0);
        const recordsAtTime = kept.lines.filter((line) => line.timeNs === timeNs).length;
        kept.cursor = { offset, timeNs: String(timeNs), recordsAtTime };
        stream.limit = offset + STREAM_CREDIT_BYTES;
        stream.rewound = true;
        send({ type: 'log-resume', epoch, stream: number, cursor: { ...kept.cursor }, credit: STREAM_CREDIT_BYTES });
      }
    },
    newLink(number) {
      epoch = number;
      streams = new Map();
    },
    control(message) {
      if (message.type === 'log-open') {
        if (streams.has(message.stream)) faults.push(`stream ${message.stream} was opened twice`);
        const kept = byEpoch.get(message.epoch) ?? {
          containerId: message.containerId,
          lines: [],
          gaps: [],
          cursor: { offset: 0, timeNs: null, recordsAtTime: 0 },
          ends: 0,
        };
        byEpoch.set(message.epoch, kept);
        streams.set(message.stream, { kept, limit: kept.cursor.offset + policy.firstCredit, rewound: false });
        send({
          type: 'log-resume',
          epoch,
          stream: message.stream,
          cursor: { ...kept.cursor },
          credit: policy.firstCredit,
        });
      } else if (message.type === 'log-gap') {
        streams.get(message.stream)?.kept.gaps.push(message);
      } else if (message.type === 'log-end') {
        const stream = streams.get(message.stream);
        if (stream) stream.kept.ends++;
        streams.delete(message.stream);
      }
    },
    frame({ stream: number, offset, bytes }) {
      const stream = streams.get(number);
      if (!stream) return void faults.push(`a frame of the unknown stream ${number}`);
      const { kept } = stream;
      if (stream.rewound && offset !== kept.cursor.offset) return;
      stream.rewound = false;
      if (offset !== kept.cursor.offset) faults.push(`offset ${offset} where ${kept.cursor.offset} was due`);
      if (bytes.length > 64 * 1024) faults.push(`a payload of ${bytes.length} bytes`);
      if (offset + bytes.length > stream.limit) faults.push('more was sent than credit was granted');
      const { records, consumed } = decodeRecords(bytes);
      if (consumed !== bytes.length) faults.push('a record was cut in two');
      for (const record of records) {
        const timeNs = String(record.timeNs);
        kept.cursor.recordsAtTime = kept.cursor.timeNs === timeNs ? kept.cursor.recordsAtTime + 1 : 1;
        kept.cursor.timeNs = timeNs;
        kept.lines.push({
          timeNs: record.timeNs,
          stream: record.stream,
          partial: record.partial,
          text: Buffer.from(record.text).toString(),
          heardAt: Date.now(),
        });
      }
      kept.cursor.offset += bytes.length;
      grant(number, stream);
    },
  };
}
