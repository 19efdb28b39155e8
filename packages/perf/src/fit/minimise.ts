/**
 * Least squares by Levenberg and Marquardt with derivatives by differences (Press et al., Numerical Recipes, 15.5).
 * `residuals` must always answer the same number of values. Answers the point of the least sum of squares found.
 */
export function leastSquares(residuals: (at: readonly number[]) => number[], start: readonly number[]): number[] {
  let at = [...start];
  let values = residuals(at);
  let cost = sumOfSquares(values);
  let damping = 1e-2;
  for (let n = 0; n < 60; n += 1) {
    const columns = at.map((x, column) => {
      const moved = [...at];
      moved[column] = x + STEP;
      return residuals(moved).map((value, row) => (value - values[row]!) / STEP);
    });
    const gradient = columns.map((column) => dot(column, values));
    const normal = columns.map((a) => columns.map((b) => dot(a, b)));
    let improved = false;
    while (!improved && damping < 1e8) {
      const damped = normal.map((row, i) => row.map((x, j) => (i === j ? x * (1 + damping) : x)));
      const move = solve(damped, gradient);
      const next = at.map((x, i) => x - move[i]!);
      const nextValues = residuals(next);
      const nextCost = sumOfSquares(nextValues);
      if (nextCost < cost) {
        improved = true;
        const gain = (cost - nextCost) / cost;
        [at, values, cost] = [next, nextValues, nextCost];
        damping = Math.max(1e-9, damping / 5);
        if (gain < 1e-7) return at;
      } else damping *= 4;
    }
    if (!improved) return at;
  }
  return at;
}

const STEP = 1e-4;
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const sumOfSquares = (values: readonly number[]) => dot(values, values);

/** Gauss elimination with pivots. */
function solve(matrix: number[][], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  const n = rows.length;
  for (let i = 0; i < n; i += 1) {
    let pivot = i;
    for (let r = i + 1; r < n; r += 1) if (Math.abs(rows[r]![i]!) > Math.abs(rows[pivot]![i]!)) pivot = r;
    [rows[i], rows[pivot]] = [rows[pivot]!, rows[i]!];
    for (let r = i + 1; r < n; r += 1) {
      const by = rows[r]![i]! / rows[i]![i]!;
      for (let c = i; c <= n; c += 1) rows[r]![c]! -= by * rows[i]![c]!;
    }
  }
  const found = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i -= 1)
    found[i] =
      (rows[i]![n]! - rows[i]!.slice(i + 1, n).reduce((sum, x, k) => sum + x * found[i + 1 + k]!, 0)) / rows[i]![i]!;
  return found;
}
