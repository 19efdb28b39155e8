import { decodeRecords, type LogRecord } from '@stagi/contract/frames.ts';

/** Longer lines are split. */
export const MAX_LINE_BYTES = 64 * 1024;
/** The year 2100: later times are invalid and would overflow elsewhere. */
const MAX_TIME_NS = 4_102_444_800_000_000_000n;
const LINE_FEED = 0x0a;

/** The beginning of a line whose end was not received yet. */
export interface OpenLine {
  timeNs: bigint;
  bytes: Buffer;
}

/** The state after the last complete record; stored with the lines, so that each line is stored exactly once. */
export interface AssemblyState {
  offset: number;
  lastTimeNs: bigint | null;
  recordsAtTime: number;
  stdout: OpenLine | null;
  stderr: OpenLine | null;
}

/** Complete lines, ready to be stored; in `text` each ends with a line feed. */
export interface Lines {
  count: number;
  text: string;
  times: bigint[];
  stderr: boolean[];
}

/**
 * Assembles the lines of an encoded stream, however its bytes are split: complete records are decoded, the rest waits for
 * the next bytes; partial records are joined. Throws RangeError on invalid bytes.
 */
export function assembleLines(from: AssemblyState): {
  take(bytes: Uint8Array): Lines;
  /** Ends open lines: the container has exited, or their continuation was lost. */
  flush(): Lines;
  state(): AssemblyState;
} {
  const at = { ...from };
  let rest: Uint8Array = new Uint8Array();

  return {
    take(bytes) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const { records, consumed } = decodeRecords(all);
      rest = Buffer.from(all.subarray(consumed));
      at.offset += consumed;
      const out = collect(consumed + (at.stdout?.bytes.length ?? 0) + (at.stderr?.bytes.length ?? 0));
      for (const record of records) {
        count(record.timeNs);
        add(out, record);
      }
      return out.lines();
    },
    flush() {
      const out = collect((at.stdout?.bytes.length ?? 0) + (at.stderr?.bytes.length ?? 0) + 2);
      for (const stream of ['stdout', 'stderr'] as const) {
        const open = at[stream];
        if (open) out.add(open.timeNs, stream, open.bytes);
        at[stream] = null;
      }
      return out.lines();
    },
    state: () => ({ ...at }),
  };

  function count(timeNs: bigint): void {
    if (timeNs > MAX_TIME_NS) throw new RangeError('time out of range');
    at.recordsAtTime = timeNs === at.lastTimeNs ? at.recordsAtTime + 1 : 1;
    at.lastTimeNs = timeNs;
  }

  function add(out: Collector, { timeNs, stream, partial, text }: LogRecord): void {
    const open = at[stream];
    if (!open && !partial) {
      out.add(timeNs, stream, text);
      return;
    }
    let line = open ? Buffer.concat([open.bytes, text]) : Buffer.from(text);
    const began = open?.timeNs ?? timeNs;
    while (line.length > MAX_LINE_BYTES) {
      const cut = cutBefore(line, MAX_LINE_BYTES);
      out.add(began, stream, line.subarray(0, cut));
      line = line.subarray(cut);
    }
    if (!partial) out.add(began, stream, line);
    at[stream] = partial ? { timeNs: began, bytes: line } : null;
  }
}

interface Collector {
  add(timeNs: bigint, stream: LogRecord['stream'], text: Uint8Array): void;
  lines(): Lines;
}

function collect(bytesAtMost: number): Collector {
  // Always large enough: a record's header is longer than the line feed that replaces it.
  const out = Buffer.allocUnsafe(bytesAtMost + 2);
  const times: bigint[] = [];
  const stderr: boolean[] = [];
  let end = 0;
  return {
    add(timeNs, stream, text) {
      out.set(text, end);
      if (text.includes(LINE_FEED)) blankLineFeeds(out.subarray(end, end + text.length));
      end += text.length;
      out[end] = LINE_FEED;
      end += 1;
      times.push(timeNs);
      stderr.push(stream === 'stderr');
    },
    lines() {
      // PostgreSQL stores no NUL; invalid UTF-8 becomes U+FFFD in the conversion.
      const text = out.toString('utf8', 0, end);
      return { count: times.length, text: text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text, times, stderr };
    },
  };
}

/** A record holds one line; only a malicious daemon sends a line feed within. */
function blankLineFeeds(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === LINE_FEED) bytes[at] = 0x20;
}

/** The last position at or before `most` that does not split a UTF-8 character. */
function cutBefore(bytes: Uint8Array, most: number): number {
  let cut = most;
  while (cut > most - 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
