import { formatDate } from '../ui/format.ts';

/** `21.11.2026 04:12:10.123` in the reader's time zone. The raw value has the nanoseconds. */
export function lineTime(time: string): string {
  const seconds = time.slice(17, 19);
  const millis = (/\.(\d{1,3})/.exec(time)?.[1] ?? '').padEnd(3, '0');
  return `${formatDate(time)}:${seconds}.${millis}`;
}
