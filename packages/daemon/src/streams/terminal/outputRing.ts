const FIRST_BYTES = 16 * 1024;

/** The last bytes of an output, by their offset from its beginning. */
export interface OutputRing {
  push(bytes: Uint8Array): void;
  /** What is kept from `offset` on; it begins later where that is not kept any more. */
  from(offset: number): { offset: number; bytes: Uint8Array };
  /** How long the output is. */
  end(): number;
}

export function outputRing(capacity: number): OutputRing {
  let kept = new Uint8Array(Math.min(FIRST_BYTES, capacity));
  let end = 0;

  function grow(wanted: number): void {
    let size = kept.length;
    while (size < wanted && size < capacity) size = Math.min(size * 2, capacity);
    if (size === kept.length) return;
    const larger = new Uint8Array(size);
    // It has not wrapped yet: it does so only at its full size.
    larger.set(kept.subarray(0, end));
    kept = larger;
  }
  return {
    push(bytes) {
      if (kept.length < capacity) grow(end + bytes.length);
      const tail = bytes.subarray(Math.max(0, bytes.length - kept.length));
      const at = (end + bytes.length - tail.length) % kept.length;
      const first = tail.subarray(0, kept.length - at);
      kept.set(first, at);
      kept.set(tail.subarray(first.length), 0);
      end += bytes.length;
    },
    from(offset) {
      const begin = Math.max(Math.min(offset, end), end - kept.length, 0);
      const bytes = new Uint8Array(end - begin);
      const at = begin % kept.length;
      const first = kept.subarray(at, Math.min(kept.length, at + bytes.length));
      bytes.set(first);
      bytes.set(kept.subarray(0, bytes.length - first.length), first.length);
      return { offset: begin, bytes };
    },
    end: () => end,
  };
}
