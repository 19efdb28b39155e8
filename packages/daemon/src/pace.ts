/** Between these bounds the bytes of streams that are on their way move. */
const LEAST_BYTES = 4 * 1024;
const FIRST_BYTES = 16 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;
/** Bytes acknowledged sooner than this show that the link takes more, later than that that it is full. */
const QUICK_MS = 700;
const SLOW_MS = 1500;

/**
 * How much of the streams may be under way on one link. Whatever waits in front of a control message delays it, so on a
 * slow link no more is handed over than is stored within about a second; on a fast one the streams' credit is the bound.
 */
export interface Pace {
  /** Bytes that may be sent now; at most 0: none. */
  room(): number;
  sent(bytes: number): void;
  /** The oldest of the bytes sent are stored, or (`counts` false) do not matter any more. */
  done(bytes: number, counts: boolean): void;
}

export function openPace(now: () => number = () => performance.now()): Pace {
  let window = FIRST_BYTES;
  let underWay = 0;
  let changedAt = Number.NEGATIVE_INFINITY;
  const pieces: { bytes: number; at: number }[] = [];

  function learn(tookMs: number, bytes: number): void {
    // What was hardly used has proven nothing.
    const used = underWay + bytes > window / 2;
    if (tookMs < QUICK_MS) {
      if (used) window = Math.min(MOST_BYTES, window + bytes);
    } else if (tookMs > SLOW_MS && now() - changedAt > tookMs) {
      // Once for what was under way together.
      window = Math.max(LEAST_BYTES, window / 2);
      changedAt = now();
    }
  }
  return {
    room: () => window - underWay,
    sent(bytes) {
      underWay += bytes;
      pieces.push({ bytes, at: now() });
    },
    done(bytes, counts) {
      underWay = Math.max(0, underWay - bytes);
      let sentAt: number | null = null;
      for (let left = bytes; left > 0 && pieces[0]; ) {
        const piece = pieces[0];
        const part = Math.min(left, piece.bytes);
        sentAt = piece.at;
        left -= part;
        piece.bytes -= part;
        if (piece.bytes === 0) pieces.shift();
      }
      if (counts && sentAt !== null) learn(now() - sentAt, bytes);
    },
  };
}
