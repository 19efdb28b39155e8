import { z } from 'zod';
import type { Gpu } from './catalogue.ts';
import { familyOf, GPU_FAMILIES } from './factors.ts';
import { PRECISION_GROUPS, type Precision, weightFormat } from './precision.ts';

export const METRICS = ['TPOT', 'TTFT', 'throughput'] as const;
export type Metric = (typeof METRICS)[number];

const Band = z.strictObject({
  family: z.enum(GPU_FAMILIES),
  group: z.enum(PRECISION_GROUPS),
  /** Models with experts are judged apart from dense ones. */
  moe: z.boolean(),
  metric: z.enum(METRICS),
  /** Measurements behind it. */
  n: z.int().positive(),
  /**
   * `held out`: of the half that no fit sees. `left out`: also of the other half, where the first are too few. `family`:
   * too few of both, so that errors of other precisions of the family count too. What is predicted was always fitted
   * without any model of the same shape.
   */
  of: z.enum(['held out', 'left out', 'family']),
  /** Four fifths of the held-out errors are within this factor: 0.2 is −17 % to +20 %. */
  error: z.number().nonnegative(),
});
export type Band = z.infer<typeof Band>;

/** What `scripts/fitPrediction.ts` writes: factors, and how far predictions made with them are from measurements. */
export const Calibration = z.strictObject({
  about: z.array(z.string()),
  /** sha256 of the files that the fit read. */
  inputs: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
  rows: z.strictObject({ fitted: z.int(), heldOut: z.int(), excluded: z.record(z.string(), z.string()) }),
  factors: z.record(z.string(), z.number()),
  bands: z.array(Band),
});
export type Calibration = z.infer<typeof Calibration>;

/** Beyond this error no speed is shown. */
export const MOST_ERROR = 0.35;
/**
 * Measurements of a precision that a band can rest on alone. With fewer it rests on the whole family too, which then needs
 * some: the greater of the family's error and the worst of its own. Without any of its own there is no band.
 */
export const FEWEST = { alone: 5, family: 3 };

/** The band of a prediction; `undefined` where nobody measured this precision on this family. */
export function bandOf(
  { bands }: Calibration,
  gpu: Gpu,
  precision: Precision,
  moe: boolean,
  metric: Metric,
): Band | undefined {
  const family = familyOf(gpu);
  const { group } = weightFormat(precision);
  return bands.find(
    (band) => band.family === family && band.group === group && band.moe === moe && band.metric === metric,
  );
}
