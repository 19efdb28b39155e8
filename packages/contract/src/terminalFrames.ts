/** Frames of a terminal's stream between platform and daemon: u8 kind, u32 length (big-endian), payload. */

const HEADER_BYTES = 5;
/** Longer input is sent as several frames. */
export const TERMINAL_FRAME_MAX_BYTES = 64 * 1024;

/** To the daemon: input, resize (JSON), close. From it: output, event (JSON). */
export const FRAME = { input: 1, resize: 2, close: 3, output: 4, event: 5 } as const;

export interface TerminalFrame {
  kind: number;
  payload: Uint8Array;
}

/** One frame, or several where the payload is long: only bytes may be. */
export function encodeTerminalFrame(kind: number, payload: Uint8Array = new Uint8Array()): Uint8Array {
  const count = Math.max(1, Math.ceil(payload.length / TERMINAL_FRAME_MAX_BYTES));
  const out = new Uint8Array(payload.length + count * HEADER_BYTES);
  const view = new DataView(out.buffer);
  for (let n = 0, at = 0; n < count; n += 1) {
    const part = payload.subarray(n * TERMINAL_FRAME_MAX_BYTES, (n + 1) * TERMINAL_FRAME_MAX_BYTES);
    view.setUint8(at, kind);
    view.setUint32(at + 1, part.length);
    out.set(part, at + HEADER_BYTES);
    at += HEADER_BYTES + part.length;
  }
  return out;
}

export function encodeTerminalJson(kind: number, value: unknown): Uint8Array {
  const payload = new TextEncoder().encode(JSON.stringify(value));
  if (payload.length > TERMINAL_FRAME_MAX_BYTES) throw new RangeError('frame too long');
  return encodeTerminalFrame(kind, payload);
}

/** Takes a stream apart into frames. `take` throws RangeError on a frame that is too long. */
export function terminalFrames(): { take(bytes: Uint8Array): TerminalFrame[] } {
  let rest = new Uint8Array();
  return {
    take(bytes) {
      let all: Uint8Array = bytes;
      if (rest.length > 0) {
        all = new Uint8Array(rest.length + bytes.length);
        all.set(rest);
        all.set(bytes, rest.length);
      }
      const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
      const found: TerminalFrame[] = [];
      let at = 0;
      while (at + HEADER_BYTES <= all.length) {
        const length = view.getUint32(at + 1);
        if (length > TERMINAL_FRAME_MAX_BYTES) throw new RangeError('frame too long');
        const end = at + HEADER_BYTES + length;
        if (end > all.length) break;
        found.push({ kind: view.getUint8(at), payload: all.subarray(at + HEADER_BYTES, end) });
        at = end;
      }
      rest = all.slice(at);
      return found;
    },
  };
}
