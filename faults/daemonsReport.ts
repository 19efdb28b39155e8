import type { HerdReport } from './daemons.ts';

const BACK_WITHIN_MS = 30_000;
/** The links that the platform admits in a second, and its burst in the first one. */
const PEAK_MOST = 110;

/** Prints the figures with their n, and returns the failures. */
export function reportHerd(report: HerdReport, changeWithinMs = 2_000): string[] {
  const { daemons, changeMs, callMs, backMs, peakLinks, bytesEach, idleCpu, wrong } = report;
  const sorted = changeMs.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const slowest = sorted.at(-1) ?? Number.NaN;
  console.log(
    `daemons: n = ${daemons}; a change reaches all: n = ${changeMs.length} arrivals of ${callMs.length} changes, ` +
      `p50 ${at(0.5).toFixed(0)}, p99 ${at(0.99).toFixed(0)}, max ${slowest.toFixed(0)} ms (the call itself ${Math.max(...callMs).toFixed(0)} ms); ` +
      `back after a restart: n = ${backMs.length}, ${backMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s, ` +
      `at most ${peakLinks} new links in a second; ${(bytesEach / 1024).toFixed(0)} KiB each, ` +
      `${(idleCpu * 100).toFixed(1)} % of a core while idle; ${wrong.length} wrong`,
  );
  const failures = wrong.slice(0, 20);
  if (daemons === 0 || changeMs.length !== daemons * callMs.length || changeMs.length === 0) failures.push('n = 0');
  if (backMs.length === 0) failures.push('no restart');
  if (!(slowest <= changeWithinMs)) failures.push(`a change took ${slowest.toFixed(0)} ms`);
  for (const ms of backMs) if (ms > BACK_WITHIN_MS) failures.push(`all were back after ${(ms / 1000).toFixed(1)} s`);
  if (peakLinks > PEAK_MOST) failures.push(`${peakLinks} links in a second`);
  return failures;
}
