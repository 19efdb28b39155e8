import { type Band, FEWEST, METRICS, type Metric } from '../calibration.ts';
import { type Factors, GPU_FAMILIES, type GpuFamily } from '../factors.ts';
import type { PrecisionGroup } from '../precision.ts';
import { fitFactors } from './fit.ts';
import { compare, type Observation } from './observations.ts';

/** How far a prediction is from a measurement. */
export interface RowError {
  id: string;
  family: GpuFamily;
  group: PrecisionGroup;
  moe: boolean;
  metric: Metric;
  measured: number;
  predicted: number;
  /** Natural logarithm of predicted over measured. */
  log: number;
}

export function errorsOf(observations: readonly Observation[], factors: Factors): RowError[] {
  return observations.flatMap((observation) =>
    compare(observation, factors).map(({ metric, measured, predicted }) => ({
      id: observation.id,
      family: observation.family,
      group: observation.group,
      moe: observation.isMoe,
      metric,
      measured,
      predicted,
      log: Math.log(predicted / measured),
    })),
  );
}

/**
 * Errors of rows that are predicted by factors fitted without any model of their shape. Rows of one run differ in load
 * alone, so a fitted row next to a held-out one would make it too easy.
 */
export function errorsByModel(fitted: readonly Observation[], rows: readonly Observation[]): RowError[] {
  return [...new Set(rows.map(({ shapeKey }) => shapeKey))].flatMap((shape) => {
    const factors = fitFactors(fitted.filter(({ shapeKey }) => shapeKey !== shape));
    return errorsOf(
      rows.filter(({ shapeKey }) => shapeKey === shape),
      factors,
    );
  });
}

/**
 * Bands of each precision of a family, and of the family, that have enough errors: of the half that no fit sees, or with
 * the other half where that is not enough.
 */
export function bandsOf(errors: readonly RowError[], isHeldOut: (id: string) => boolean): Band[] {
  const groups = ['16-bit', '8-bit', 'fp4', 'int4', 'gguf', null] as const;
  const bands: Band[] = [];
  for (const family of GPU_FAMILIES)
    for (const group of groups)
      for (const moe of [false, true])
        for (const metric of METRICS) {
          const cell = errors
            .filter((error) => error.family === family && error.moe === moe && error.metric === metric)
            .filter((error) => group === null || error.group === group);
          const heldOut = cell.filter(({ id }) => isHeldOut(id));
          const fewest = group === null ? FEWEST.family : FEWEST.precision;
          const of = heldOut.length >= fewest ? 'held out' : 'left out';
          const logs = (of === 'held out' ? heldOut : cell).map(({ log }) => Math.abs(log));
          if (logs.length < fewest) continue;
          const error = Number((Math.exp(quantile(logs, COVERED)) - 1).toFixed(3));
          bands.push({ family, group, moe, metric, n: logs.length, of, error });
        }
  return bands;
}

/** Part of the errors that a band covers. */
const COVERED = 0.8;

/** The smallest value that at least this part of the values does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!;
}
