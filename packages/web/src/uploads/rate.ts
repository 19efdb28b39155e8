/** Bytes sent over the last seconds: `record` each change, `perSecond` for the speed. */
export interface Rate {
  record(bytes: number, now: number): void;
  perSecond(now: number): number;
}

const WINDOW_MS = 5_000;
/** Before that a speed would be a guess. */
const MIN_MS = 500;

export function createRate(): Rate {
  let samples: { at: number; bytes: number }[] = [];
  return {
    record(bytes, now) {
      samples.push({ at: now, bytes });
      // Most records are of the same moment; their number stays small.
      if (samples.length > 500) samples = recent(samples, now);
    },
    perSecond(now) {
      samples = recent(samples, now);
      const since = samples[0]?.at;
      if (since === undefined || now - since < MIN_MS) return 0;
      return (samples.reduce((sum, { bytes }) => sum + bytes, 0) * 1000) / (now - since);
    },
  };
}

const recent = <S extends { at: number }>(samples: S[], now: number): S[] =>
  samples.filter(({ at }) => now - at <= WINDOW_MS);
