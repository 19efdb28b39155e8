import { percentile } from './random.ts';
import type { TasksPlan, TasksReport } from './tasks/run.ts';

/** Prints the report and returns its failures. `startWithinMs`: the most that p95 may be; null: the machine is busy. */
export function reportTasks(
  name: string,
  seed: number,
  plan: TasksPlan,
  report: TasksReport,
  startWithinMs: number | null,
): string[] {
  const { tasks, runs, starts, ended, excused, daemonKills, platformKills, cuts, files, bytes, left, wrong } = report;
  const statuses = Object.entries(ended).map(([status, count]) => `${count} ${status}`);
  console.log(
    `${name}: seed ${seed}, n = ${tasks} tasks (${statuses.join(', ')}) in ${runs} runs on ${plan.servers} servers, ` +
      `${starts} starts by Docker; ${daemonKills} kills of daemons, ${platformKills} of the platform, ${cuts} cuts of ` +
      `the network; ${files} files of ${(bytes / 1e6).toFixed(1)} MB compared; ${excused.length} failed for another ` +
      `reason than their own, ${wrong.length} wrong, ${left.length} kinds of things left; ${report.seconds.toFixed(0)} s`,
  );
  const p95 = percentile(report.startMs, 0.95);
  console.log(
    `${name}: from the row of a task to its start p50 ${percentile(report.startMs, 0.5).toFixed(0)} ms, p95 ` +
      `${p95.toFixed(0)} ms, n = ${report.startMs.length}`,
  );
  for (const reason of excused) console.log(`${name}: ${reason}`);
  return [
    ...(tasks === plan.tasks + plan.calm ? [] : [`${tasks} tasks instead of ${plan.tasks + plan.calm}`]),
    ...(daemonKills === plan.daemonKills && platformKills === plan.platformKills && cuts === plan.cuts
      ? []
      : ['not every kill was made']),
    ...(files > 0 ? [] : ['no output was compared']),
    ...(report.startMs.length > 0 ? [] : ['no start was timed']),
    ...(startWithinMs === null || p95 <= startWithinMs ? [] : [`p95 of the start is more than ${startWithinMs} ms`]),
    // Kills alone end no task; a long cut may.
    ...(plan.cuts === 0 ? excused.map((reason) => `did not survive: ${reason}`) : []),
    ...wrong,
    ...left.map((what) => `left behind: ${what}`),
  ];
}
