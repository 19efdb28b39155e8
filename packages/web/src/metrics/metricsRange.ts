/** The ranges that are offered by name, in hours. */
export const PRESETS = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720, '90d': 2160 } as const;
export type Preset = keyof typeof PRESETS;

/** The last so many hours, or a stretch that was dragged out of a chart; in milliseconds since 1970. */
export type MetricsRange = { preset: Preset } | { from: number; to: number };

/** Its name in an address. */
export const RANGE = 'range';
const DEFAULT: MetricsRange = { preset: '1h' };
const HOUR_MS = 3_600_000;
const SHORTEST_MS = 60_000;
const BETWEEN = '~';

export const isPreset = (text: string): text is Preset => text in PRESETS;

/** What an address asks for; the last hour for what is no range. */
export function rangeFromText(text: string | null): MetricsRange {
  if (!text) return DEFAULT;
  if (isPreset(text)) return { preset: text };
  const [from = Number.NaN, to = Number.NaN] = text.split(BETWEEN).map((time) => Date.parse(time));
  return from + SHORTEST_MS <= to ? { from, to } : DEFAULT;
}

export function rangeToText(range: MetricsRange): string {
  if ('preset' in range) return range.preset;
  return [range.from, range.to].map((time) => `${new Date(time).toISOString().slice(0, 19)}Z`).join(BETWEEN);
}

/** A stretch of at least a minute around what was dragged. */
export function draggedRange(fromSeconds: number, toSeconds: number): MetricsRange {
  const [from, to] = [Math.floor(fromSeconds) * 1000, Math.ceil(toSeconds) * 1000];
  const missing = Math.max(0, SHORTEST_MS - (to - from));
  return { from: from - missing, to };
}

/** What ran from one time to another, with a little before and after it. */
export function rangeAround(startedAt: string, finishedAt: string): MetricsRange {
  const [start, end] = [Date.parse(startedAt), Date.parse(finishedAt)];
  const beside = Math.max(SHORTEST_MS, (end - start) / 50);
  return { from: start - beside, to: end + beside };
}

/** The bounds of a range for a call that is made now. */
export function boundsOf(range: MetricsRange, now: number): { from: string; to: string } {
  const [from, to] = 'preset' in range ? [now - PRESETS[range.preset] * HOUR_MS, now] : [range.from, range.to];
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** How often figures of a range are read again: new ones come as often as its steps are long. */
export function refetchMs(range: MetricsRange): number | false {
  if (!('preset' in range)) return false;
  return PRESETS[range.preset] <= 6 ? 15_000 : PRESETS[range.preset] === 24 ? 60_000 : 300_000;
}
