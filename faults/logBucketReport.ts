import { LOG_CRASH_POINTS } from '@stagi/contract/crashPoints.ts';
import type { LogBucketPlan, LogBucketReport } from './logBucket/run.ts';

/** Prints the report and returns its failures. */
export function reportLogBucket(plan: LogBucketPlan, report: LogBucketReport): string[] {
  const { lines, kills, withIntent, atPoint, links, chunks, missing, duplicate, wrong } = report;
  const points = Object.entries(atPoint).map(([point, count]) => `${count} at ${point}`);
  console.log(
    `logbucket: n = ${lines} lines in ${chunks} chunks over ${links} links; ${kills} kills, ${withIntent} with an intent ` +
      `open (${points.join(', ')}); missing ${missing}, duplicate ${duplicate}, wrong ${wrong}`,
  );
  const reached = LOG_CRASH_POINTS.filter((point) => atPoint[point]).length;
  return [
    ...(lines >= plan.lines && chunks > 0 ? [] : ['hardly anything was copied']),
    ...(kills === plan.kills ? [] : [`${kills} kills instead of ${plan.kills}`]),
    ...(reached === Math.min(LOG_CRASH_POINTS.length, Math.ceil(plan.kills / 2))
      ? []
      : ['a crash point was not reached']),
    ...(withIntent > 0 ? [] : ['no kill came between an intent and its result']),
    ...(missing === 0 ? [] : [`${missing} lines are not in the bucket`]),
    ...(duplicate === 0 ? [] : [`${duplicate} lines are in the bucket too often`]),
    ...(wrong === 0 ? [] : [`${wrong} records are no lines as they were printed`]),
  ];
}
