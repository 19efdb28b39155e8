/** One record of Docker's log, as it was written. */
export interface RawRecord {
  timeNs: bigint;
  stream: 'stdout' | 'stderr';
  partial: boolean;
  text: Buffer;
}

const FRAME_HEADER_BYTES = 8;
/** `2026-11-21T03:37:25.936229543Z ` */
const TIME_BYTES = 31;
/** A record of this length without a line feed is continued in the next; a shorter one was cut by the process's exit. */
const DOCKER_SPLITS_AT_BYTES = 16 * 1024;
/** Longer texts are split, so that a record always fits into a frame of the link. */
const MAX_TEXT_BYTES = 32 * 1024;

/**
 * Parses Docker's multiplexed stream (Engine API, "attach": u8 stream, 3 zero bytes, u32 length, payload) with
 * `timestamps` on. Docker writes one frame per record. Throws on any other format.
 */
export function dockerLogParser(): { push(chunk: Buffer): RawRecord[] } {
  let rest: Buffer = Buffer.alloc(0);
  const time = timeReader();
  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const records: RawRecord[] = [];
      let at = 0;
      while (at + FRAME_HEADER_BYTES <= bytes.length) {
        const end = at + FRAME_HEADER_BYTES + bytes.readUInt32BE(at + 4);
        if (end > bytes.length) break;
        const kind = bytes[at];
        if (kind !== 1 && kind !== 2) throw new Error(`Docker sent a log frame of the unknown kind ${kind}`);
        const payload = bytes.subarray(at + FRAME_HEADER_BYTES, end);
        const ended = payload.at(-1) === 0x0a;
        const text = payload.subarray(TIME_BYTES, ended ? -1 : undefined);
        const partial = !ended && text.length >= DOCKER_SPLITS_AT_BYTES;
        pushSplit(records, { timeNs: time(payload), stream: kind === 2 ? 'stderr' : 'stdout', partial, text });
        at = end;
      }
      // A copy: a view of a few bytes would keep the whole chunk in memory.
      rest = Buffer.from(bytes.subarray(at));
      return records;
    },
  };
}

function pushSplit(records: RawRecord[], record: RawRecord): void {
  let at = 0;
  for (; record.text.length - at > MAX_TEXT_BYTES; at += MAX_TEXT_BYTES)
    records.push({ ...record, partial: true, text: record.text.subarray(at, at + MAX_TEXT_BYTES) });
  records.push(at === 0 ? record : { ...record, text: record.text.subarray(at) });
}

/** Caches the parsed second, as most consecutive lines share it. */
function timeReader(): (payload: Buffer) => bigint {
  let second = '';
  let secondNs = 0n;
  return (payload) => {
    const head = payload.toString('latin1', 0, 19);
    const fraction = Number(payload.toString('latin1', 20, 29));
    if (payload.length < TIME_BYTES || payload[29] !== 0x5a || payload[30] !== 0x20 || Number.isNaN(fraction))
      throw new Error('Docker sent a log record without a time');
    if (head !== second) {
      const ms = Date.parse(`${head}Z`);
      if (Number.isNaN(ms)) throw new Error('Docker sent a log record without a time');
      second = head;
      secondNs = BigInt(ms) * 1_000_000n;
    }
    return secondNs + BigInt(fraction);
  };
}
