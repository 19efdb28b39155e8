import { z } from 'zod';
import type { Gpu } from './catalogue.ts';
import { familyOf, GPU_FAMILIES } from './factors.ts';
import { type Precision, weightFormat } from './precision.ts';

export const METRICS = ['TPOT', 'TTFT', 'throughput'] as const;
export type Metric = (typeof METRICS)[number];

const Band = z.strictObject({
  family: z.enum(GPU_FAMILIES),
  /** `null`: all precisions of the family, for those with too few measurements of their own. */
  group: z.enum(['16-bit', '8-bit', 'fp4', 'int4', 'gguf']).nullable(),
  /** Models with experts are judged apart from dense ones. */
  moe: z.boolean(),
  metric: z.enum(METRICS),
  /** Measurements behind it. */
  n: z.int().positive(),
  /**
   * `held out`: of the half that no fit sees. `left out`: also of the other half, for cells with too few of the first. In
   * both, what is predicted was fitted without any model of the same shape.
   */
  of: z.enum(['held out', 'left out']),
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
/** Measurements that a band needs: of one precision (fewer would leave no outlier out), and of a whole family. */
export const FEWEST = { precision: 5, family: 3 };

/** The band of a prediction: of the precision when it has enough measurements, else of the whole family. */
export function bandOf(
  { bands }: Calibration,
  gpu: Gpu,
  precision: Precision,
  moe: boolean,
  metric: Metric,
): Band | undefined {
  const family = familyOf(gpu);
  const { group } = weightFormat(precision);
  const ofFamily = bands.filter((band) => band.family === family && band.moe === moe && band.metric === metric);
  return ofFamily.find((band) => band.group === group) ?? ofFamily.find((band) => band.group === null);
}
