const MINUTE_S = 60;
const HOUR_S = 3600;

export interface Wait {
  unit: 'second' | 'minute' | 'hour';
  count: number;
}

/** A wait in the unit that people count it in, never shorter than it is: seconds up to two minutes, then minutes up to two hours. */
export function waitOf(seconds: number): Wait {
  if (seconds <= 2 * MINUTE_S) return { unit: 'second', count: Math.max(1, Math.ceil(seconds)) };
  if (seconds <= 2 * HOUR_S) return { unit: 'minute', count: Math.ceil(seconds / MINUTE_S) };
  return { unit: 'hour', count: Math.ceil(seconds / HOUR_S) };
}
