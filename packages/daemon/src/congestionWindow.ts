/** Bounds of the window. */
const MIN_WINDOW_BYTES = 4 * 1024;
const INITIAL_WINDOW_BYTES = 16 * 1024;
const MAX_WINDOW_BYTES = 4 * 1024 * 1024;
/** Acknowledgements faster than the first let the window grow; slower than the second shrink it. */
const GROW_BELOW_MS = 700;
const SHRINK_ABOVE_MS = 1500;

/**
 * Congestion control: how many bytes of log streams may be in flight on one link. Queued bytes delay the control messages
 * behind them, so on a slow link no more is sent than the platform stores within about a second. On a fast link the
 * streams' credit is the limit.
 */
export interface CongestionWindow {
  /** Bytes that may be sent now; 0 or less: none. */
  available(): number;
  sent(bytes: number): void;
  /** The oldest bytes in flight are stored; with `counts` false they were dropped and say nothing about the link. */
  acknowledged(bytes: number, counts: boolean): void;
}

export function openCongestionWindow(now: () => number = () => performance.now()): CongestionWindow {
  let window = INITIAL_WINDOW_BYTES;
  let inFlight = 0;
  let shrunkAt = Number.NEGATIVE_INFINITY;
  const sends: { bytes: number; at: number }[] = [];

  function adjust(tookMs: number, bytes: number): void {
    // A window that was not filled says nothing about a larger one.
    const used = inFlight + bytes > window / 2;
    if (tookMs < GROW_BELOW_MS) {
      if (used) window = Math.min(MAX_WINDOW_BYTES, window + bytes);
    } else if (tookMs > SHRINK_ABOVE_MS && now() - shrunkAt > tookMs) {
      // Once for all bytes that were in flight together.
      window = Math.max(MIN_WINDOW_BYTES, window / 2);
      shrunkAt = now();
    }
  }
  return {
    available: () => window - inFlight,
    sent(bytes) {
      inFlight += bytes;
      sends.push({ bytes, at: now() });
    },
    acknowledged(bytes, counts) {
      inFlight = Math.max(0, inFlight - bytes);
      let sentAt: number | null = null;
      for (let left = bytes; left > 0 && sends[0]; ) {
        const piece = sends[0];
        const part = Math.min(left, piece.bytes);
        sentAt = piece.at;
        left -= part;
        piece.bytes -= part;
        if (piece.bytes === 0) sends.shift();
      }
      if (counts && sentAt !== null) adjust(now() - sentAt, bytes);
    },
  };
}
