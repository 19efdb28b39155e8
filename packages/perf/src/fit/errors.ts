import { type Band, FEWEST, METRICS, type Metric } from '../calibration.ts';
import { type Factors, GPU_FAMILIES, type GpuFamily } from '../factors.ts';
import { PRECISION_GROUPS, type PrecisionGroup } from '../precision.ts';
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

/** Bands of each precision on each family that somebody measured, as `FEWEST` says. */
export function bandsOf(errors: readonly RowError[], isHeldOut: (id: string) => boolean): Band[] {
  const bands: Band[] = [];
  for (const family of GPU_FAMILIES)
    for (const moe of [false, true])
      for (const metric of METRICS) {
        const ofFamily = errors.filter((one) => one.family === family && one.moe === moe && one.metric === metric);
        for (const group of PRECISION_GROUPS) {
          const own = ofFamily.filter((error) => error.group === group);
          const heldOut = own.filter(({ id }) => isHeldOut(id));
          const add = (of: Band['of'], log: number, n: number) =>
            bands.push({ family, group, moe, metric, n, of, error: Number((Math.exp(log) - 1).toFixed(3)) });
          if (heldOut.length >= FEWEST.alone) add('held out', covering(heldOut), heldOut.length);
          else if (own.length >= FEWEST.alone) add('left out', covering(own), own.length);
          else if (own.length > 0 && ofFamily.length >= FEWEST.family)
            add('family', Math.max(covering(ofFamily), ...own.map(({ log }) => Math.abs(log))), own.length);
        }
      }
  return bands;
}

const covering = (errors: readonly RowError[]) =>
  quantile(
    errors.map(({ log }) => Math.abs(log)),
    COVERED,
  );

/** Part of the errors that a band covers. */
const COVERED = 0.8;

/** The smallest value that at least this part of the values does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!;
}
