export interface Goal {
  unit: string;
  goal: string;
  ok(ratio: number): boolean;
}

/** Prints medians, their ratio, n and spread; a run without samples fails. */
export function report(
  title: string,
  ours: readonly number[],
  baseline: readonly number[],
  { unit, goal, ok }: Goal,
): void {
  if (ours.length === 0 || ours.length !== baseline.length)
    throw new Error(`${title}: n = ${ours.length} against ${baseline.length}`);
  const ratio = median(ours) / median(baseline);
  const spread = (values: readonly number[]): string =>
    `${median(values).toFixed(1)} ${unit} (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`;
  console.log(
    `${title}\n  ours      ${spread(ours)}\n  baseline  ${spread(baseline)}\n  ratio     ${ratio.toFixed(2)}, goal ${goal}: ${ok(ratio) ? 'met' : 'MISSED'}, n = ${ours.length}`,
  );
  if (!ok(ratio)) process.exitCode = 1;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
