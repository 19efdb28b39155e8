import type { ExhaustionReport } from './exhaustion/run.ts';
import { percentile } from './random.ts';

/** Prints the figures with their n, and returns the failures. `withinMs`: `null` where the machine is not quiet. */
export function reportExhaustion(report: ExhaustionReport, withinMs: number | null): string[] {
  const { servers, workspaces, kills, insideTransaction, insideCharge, stopped, terminated, closedMs, offMs } = report;
  const { credited, startedAgain, least, balanceChanges, left, leftOfReserve, uncollected, writtenOff } = report;
  const seconds = (values: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => (percentile(values, share) / 1_000).toFixed(1)).join(' / ');
  const kept = leftOfReserve.reduce((sum, one) => sum + one.left, 0n);
  const reserves = leftOfReserve.reduce((sum, one) => sum + one.reserve, 0n);
  console.log(
    `exhaustion: n = ${servers} servers of ${workspaces} workspaces, ${stopped} stopped, ${terminated} terminated; ` +
      `n = ${kills} kills, ${insideTransaction} within a transaction, ${insideCharge} of a charge\n` +
      `  from the moment the balance is used up, p50 / p99 / max: noticed ${seconds(report.noticedMs)} s, stop accepted and ` +
      `interval closed ${seconds(closedMs)} s (n = ${closedMs.length}), off at the cloud ${seconds(offMs)} s\n` +
      `  least balance ${least} in n = ${balanceChanges} changes; left at the end ${[...new Set(left)].join(', ')} ` +
      `(n = ${left.length}), of reserves ${kept} of ${reserves} (n = ${leftOfReserve.length})\n` +
      `  uncollected ${uncollected}, written off ${writtenOff}; ${report.chargedLate} charged after the end; ` +
      `${report.journals} journals verified; n = ${credited} credited meanwhile, ${startedAgain} of them started again`,
  );
  const failures = report.problems.slice(0, 20);
  if (stopped + terminated !== servers) failures.push(`${stopped + terminated} of ${servers} servers ended`);
  if (closedMs.length === 0 || closedMs.length < stopped) failures.push(`${closedMs.length} intervals were closed`);
  if (insideTransaction === 0 || insideCharge === 0) failures.push('no kill came within a transaction, or of a charge');
  const p99 = percentile(closedMs, 0.99);
  if (withinMs !== null && !(p99 <= withinMs)) failures.push(`p99 ${Math.round(p99)} ms, more than ${withinMs}`);
  if (balanceChanges === 0n || least < 0n) failures.push(`a balance fell to ${least}`);
  if (left.length === 0 || left.some((balance) => balance !== 0n))
    failures.push(`balances ended at ${left.join(', ')}`);
  const beyond = leftOfReserve.filter((one) => one.left < 0n || one.left > one.reserve);
  if (beyond.length > 0) failures.push(`${beyond.length} workspaces have more left than their reserve`);
  if (uncollected !== writtenOff) failures.push(`${uncollected} uncollected, ${writtenOff} written off`);
  if (uncollected === 0n) failures.push('nothing was uncollected');
  if (report.chargedLate !== 0n) failures.push(`${report.chargedLate} charged after the end`);
  return failures;
}
