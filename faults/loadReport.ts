import type { LoadReport } from './load.ts';

const BACK_WITHIN_MS = 10_000;
/** The longest wait for a 503: the timeout of a statement, with room for a busy machine. */
const REFUSED_WITHIN_MS = 9_000;

/** Prints the figures with their n, and returns the failures. */
export function reportLoad(name: string, report: LoadReport): string[] {
  const { backMs, eventsMs, answered, refused, asked, stored, wrong, processExits, slowestRefusalMs } = report;
  const worst = Math.max(...backMs);
  const worstEvents = Math.max(...eventsMs);
  console.log(
    `${name}: n = ${backMs.length} disturbances; ${answered} calls answered, ${refused} refused with 503 ` +
      `(slowest ${slowestRefusalMs.toFixed(0)} ms); ${asked} things asked for, ${stored} stored; ${wrong.length} wrong, ` +
      `${processExits} process exits; back after at most ${worst.toFixed(0)} ms, events ${worstEvents.toFixed(0)} ms`,
  );
  const failures = wrong.slice(0, 20);
  if (backMs.length === 0 || answered === 0 || refused === 0 || stored === 0) failures.push('n = 0');
  if (processExits > 0) failures.push(`${processExits} process exits`);
  if (worst > BACK_WITHIN_MS) failures.push(`calls were back after ${worst.toFixed(0)} ms`);
  if (worstEvents > BACK_WITHIN_MS) failures.push(`events were back after ${worstEvents.toFixed(0)} ms`);
  if (slowestRefusalMs > REFUSED_WITHIN_MS) failures.push(`a refusal took ${slowestRefusalMs.toFixed(0)} ms`);
  return failures;
}
