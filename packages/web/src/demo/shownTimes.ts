/** The times of an answer, moved on by the age of the recording: what was 8 s ago then is 8 s ago now. */
export interface Shift {
  /** When the answer was recorded, and when the page was opened; in ms since 1970. */
  recordedAt: number;
  openedAt: number;
  /** Now: what a server tells again and again, such as when it was last seen, follows it. */
  now: number;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
/** What a live platform confirms all the time: it is never older than this. */
const CONFIRMED = /(?:SeenAt|seenAt)$/;
const CONFIRMED_MS = 8_000;
/** What lies as far ahead, or back, at any time. */
const LIVE = /(?:lastAt|expiresAt|nextAt)$/;

export function shiftTimes<Value>(value: Value, shift: Shift, field = ''): Value {
  if (typeof value === 'string') return shifted(value, shift, field) as Value;
  if (Array.isArray(value)) return value.map((entry) => shiftTimes(entry, shift, field)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, shiftTimes(inner, shift, name)]),
  ) as Value;
}

function shifted(text: string, { recordedAt, openedAt, now }: Shift, field: string): string {
  if (DAY.test(text)) {
    const days = Math.floor(openedAt / DAY_MS) - Math.floor(recordedAt / DAY_MS);
    return new Date(Date.parse(text) + days * DAY_MS).toISOString().slice(0, 10);
  }
  const fraction = MOMENT.exec(text)?.[1];
  if (!MOMENT.test(text)) return text;
  if (CONFIRMED.test(field)) return new Date(now - CONFIRMED_MS).toISOString();
  const moved = new Date(Date.parse(text) + (LIVE.test(field) ? now : openedAt) - recordedAt).toISOString();
  // Log lines have nanoseconds, which order them.
  return fraction && fraction.length > 4 ? moved.replace('Z', `${fraction.slice(4)}Z`) : moved;
}
