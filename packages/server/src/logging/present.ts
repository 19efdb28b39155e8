import type { LogGap, LogLine } from '@stagi/contract/logging.ts';
import { formatNs } from './nanoTime.ts';

export function presentLine(row: { seq: bigint | number; time_ns: bigint; stderr: boolean; text: string }): LogLine {
  return {
    seq: Number(row.seq),
    time: formatNs(row.time_ns),
    stream: row.stderr ? 'stderr' : 'stdout',
    text: row.text,
  };
}

export function presentGap(row: {
  after_seq: bigint;
  from_ns: bigint | null;
  to_ns: bigint | null;
  reason: string;
}): LogGap {
  return {
    afterSeq: Number(row.after_seq),
    from: row.from_ns === null ? null : formatNs(row.from_ns),
    to: row.to_ns === null ? null : formatNs(row.to_ns),
    reason: row.reason,
  };
}
