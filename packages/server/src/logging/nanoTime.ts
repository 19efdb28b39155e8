const NANOS_A_SECOND = 1_000_000_000n;

/** RFC 3339 with nanoseconds, UTC. */
export function formatNs(ns: bigint): string {
  const seconds = ns / NANOS_A_SECOND;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}.${(ns % NANOS_A_SECOND).toString().padStart(9, '0')}Z`;
}

/** Nanoseconds since 1970 of an RFC 3339 time in UTC; null when it is none. */
export function parseNs(time: string): bigint | null {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(time);
  const millis = match ? Date.parse(`${match[1]}Z`) : Number.NaN;
  if (Number.isNaN(millis)) return null;
  return BigInt(millis) * 1_000_000n + BigInt((match?.[2] ?? '').padEnd(9, '0'));
}
