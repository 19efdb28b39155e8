import { decodeRecords, type LogRecord } from '@stagi/contract/frames.ts';

/** A longer line is cut into several. */
export const MAX_LINE_BYTES = 64 * 1024;
/** The year 2100: a later time is nonsense and would not fit everywhere. */
const LAST_NS = 4_102_444_800_000_000_000n;
const LINE_FEED = 0x0a;

/** The part of a line that was printed before its end. */
export interface OpenLine {
  timeNs: bigint;
  bytes: Buffer;
}

/** Where the assembly stands after the last whole record; stored with the lines so that nothing is said twice. */
export interface Standing {
  offset: number;
  lastTimeNs: bigint | null;
  recordsAtTime: number;
  stdout: OpenLine | null;
  stderr: OpenLine | null;
}

/** Whole lines, ready to be stored: `text` holds each followed by a line feed. */
export interface Lines {
  count: number;
  text: string;
  times: bigint[];
  stderr: boolean[];
}

/**
 * Makes lines of an encoded stream, wherever its bytes are cut: whole records are taken, the rest waits for the next
 * bytes; partial records are joined to lines. Throws RangeError on bytes that are no such stream.
 */
export function assembleLines(from: Standing): {
  take(bytes: Uint8Array): Lines;
  /** Ends lines that have no end: the container ended, or what followed was lost. */
  flush(): Lines;
  standing(): Standing;
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
    standing: () => ({ ...at }),
  };

  function count(timeNs: bigint): void {
    if (timeNs > LAST_NS) throw new RangeError('time out of range');
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
  // A record's header is longer than the line feed that replaces it, so that this is always enough.
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
      // PostgreSQL keeps no NUL; bytes that are not UTF-8 become U+FFFD when the text is made.
      const text = out.toString('utf8', 0, end);
      return { count: times.length, text: text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text, times, stderr };
    },
  };
}

/** A record holds one line; only a daemon that lies sends a line feed within. */
function blankLineFeeds(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === LINE_FEED) bytes[at] = 0x20;
}

/** The last place at or before `most` where no character is cut in two. */
function cutBefore(bytes: Uint8Array, most: number): number {
  let cut = most;
  while (cut > most - 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
