import { formatDate } from '../../../ui/format.ts';

/** `21.11.2026 04:12:10.123`, the reader's own time; the whole of its nanoseconds is in the raw value. */
export function lineTime(time: string): string {
  const seconds = time.slice(17, 19);
  const millis = (/\.(\d{1,3})/.exec(time)?.[1] ?? '').padEnd(3, '0');
  return `${formatDate(time)}:${seconds}.${millis}`;
}
