/**
 * Parses the frames that a WebSocket server sends (RFC 6455: they are not masked), so that frames can be recorded and
 * replayed at a frame boundary, also on another connection.
 */
export interface FrameTap {
  /** The bytes to pass on for the received ones. */
  take(bytes: Buffer): Buffer;
  /** Queues a recorded frame for the next frame boundary. */
  inject(frame: Buffer): void;
}

const HEADERS_END = Buffer.from('\r\n\r\n');
const TEXT = 1;

export function tapFrames(record: (text: string, frame: Buffer) => void): FrameTap {
  const waiting: Buffer[] = [];
  let rest = Buffer.alloc(0);
  let upgraded: boolean | null = null;

  /** The frame that begins at `at`; null while its header is incomplete. */
  function sizeOf(at: number): { head: number; total: number } | null {
    if (rest.length < at + 2) return null;
    const short = rest[at + 1]! & 0x7f;
    const head = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (rest.length < at + head) return null;
    const body = head === 4 ? rest.readUInt16BE(at + 2) : head === 10 ? Number(rest.readBigUInt64BE(at + 2)) : short;
    return { head, total: head + body };
  }

  return {
    inject: (frame) => void waiting.push(frame),
    take(bytes) {
      if (upgraded === false) return bytes;
      rest = Buffer.concat([rest, bytes]);
      const out: Buffer[] = [];
      let at = 0;
      if (upgraded === null) {
        const end = rest.indexOf(HEADERS_END);
        if (end < 0) return Buffer.alloc(0);
        upgraded = rest.toString('latin1', 0, 13).startsWith('HTTP/1.1 101');
        at = upgraded ? end + HEADERS_END.length : rest.length;
        out.push(rest.subarray(0, at));
      }
      for (let size = sizeOf(at); upgraded && size && rest.length >= at + size.total; size = sizeOf(at)) {
        const frame = rest.subarray(at, at + size.total);
        if ((frame[0]! & 0x0f) === TEXT) record(frame.toString('utf8', size.head), Buffer.from(frame));
        out.push(frame, ...waiting.splice(0));
        at += size.total;
      }
      rest = Buffer.from(rest.subarray(at));
      return Buffer.concat(out);
    },
  };
}
