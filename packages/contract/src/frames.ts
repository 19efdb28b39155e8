/** Binary frames of the daemon link, and the log records inside them. All integers big-endian. */

const HEADER_BYTES = 13;
const FRAME_DATA = 1;
const RECORD_HEADER_BYTES = 13;

/** A whole record must fit into a stream's credit; Docker's own are at most 16 KiB. */
export const MAX_RECORD_TEXT_BYTES = 64 * 1024;

export interface DataFrame {
  stream: number;
  /** Offset of the first byte within the stream. */
  offset: number;
  bytes: Uint8Array;
}

/** Layout: u8 kind = 1, u32 stream, u64 offset, then the bytes. */
export function encodeFrame({ stream, offset, bytes }: DataFrame): Uint8Array {
  const out = new Uint8Array(HEADER_BYTES + bytes.length);
  const view = new DataView(out.buffer);
  view.setUint8(0, FRAME_DATA);
  view.setUint32(1, stream);
  view.setBigUint64(5, BigInt(offset));
  out.set(bytes, HEADER_BYTES);
  return out;
}

/** Throws RangeError on a frame that is too short, of an unknown kind, or beyond 2⁵³. */
export function decodeFrame(frame: Uint8Array): DataFrame {
  if (frame.length < HEADER_BYTES) throw new RangeError('frame too short');
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint8(0) !== FRAME_DATA) throw new RangeError('unknown kind of frame');
  const offset = view.getBigUint64(5);
  if (offset > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('offset out of range');
  return { stream: view.getUint32(1), offset: Number(offset), bytes: frame.subarray(HEADER_BYTES) };
}

export interface LogRecord {
  /** Nanoseconds since 1970-01-01T00:00:00Z. */
  timeNs: bigint;
  stream: 'stdout' | 'stderr';
  /** The line continues in the next record of the same stream (Docker splits at 16 KiB). */
  partial: boolean;
  /** Without the line feed. */
  text: Uint8Array;
}

/** Layout of a record: u64 time, u8 flags (1 = stderr, 2 = partial), u32 length, text. */
export function encodeRecord(record: LogRecord): Uint8Array {
  const out = new Uint8Array(RECORD_HEADER_BYTES + record.text.length);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, record.timeNs);
  view.setUint8(8, (record.stream === 'stderr' ? 1 : 0) | (record.partial ? 2 : 0));
  view.setUint32(9, record.text.length);
  out.set(record.text, RECORD_HEADER_BYTES);
  return out;
}

/**
 * The complete records at the start of `bytes`, and how many bytes they take; the rest belongs to the next frame. Throws
 * RangeError on a record that is too long.
 */
export function decodeRecords(bytes: Uint8Array): { records: LogRecord[]; consumed: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: LogRecord[] = [];
  let at = 0;
  while (at + RECORD_HEADER_BYTES <= bytes.length) {
    const length = view.getUint32(at + 9);
    if (length > MAX_RECORD_TEXT_BYTES) throw new RangeError('record too long');
    const end = at + RECORD_HEADER_BYTES + length;
    if (end > bytes.length) break;
    const flags = view.getUint8(at + 8);
    records.push({
      timeNs: view.getBigUint64(at),
      stream: flags & 1 ? 'stderr' : 'stdout',
      partial: (flags & 2) !== 0,
      text: bytes.subarray(at + RECORD_HEADER_BYTES, end),
    });
    at = end;
  }
  return { records, consumed: at };
}
