import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CatalogueModel, Gpu } from './catalogue.ts';
import { gpus, models } from './catalogueFiles.ts';
import { calibration } from './checkedCalibration.ts';
import { ENGINES } from './engines.ts';
import { efficiencies, GPU_FAMILIES } from './factors.ts';
import { fits } from './memory.ts';
import { PRECISIONS, weightFormat } from './precision.ts';
import { isEstimate, predict } from './predict.ts';
import { replicaOf, type Setup } from './replica.ts';
import { closedLoop, openLoop } from './serving.ts';
import { shapeOf } from './shape.ts';

const RUNS = 2_500;
/** Sums of many small numbers differ in their last digits by order alone. */
const MORE = 1 + 1e-9;
const text = models.filter((model) => shapeOf(model));
const { factors } = calibration;

const setup: fc.Arbitrary<Setup> = fc.record({
  model: fc.constantFrom(...text),
  gpu: fc.constantFrom(...gpus),
  count: fc.constantFrom(1, 2, 4, 8),
  precision: fc.constantFrom(...PRECISIONS),
  engine: fc.constantFrom(...ENGINES),
});
const lengths = fc.record({ input: fc.integer({ min: 1, max: 30_000 }), output: fc.integer({ min: 1, max: 4_000 }) });
const clients = fc.integer({ min: 1, max: 600 });
const factor = fc.double({ min: 1, max: 10, noNaN: true });

function holds<T>(name: string, arbitrary: fc.Arbitrary<T>, check: (value: T) => void) {
  console.log(`${name}: n = ${RUNS}`);
  fc.assert(
    fc.property(arbitrary, (value) => {
      check(value);
    }),
    { numRuns: RUNS },
  );
}

const withGpu = (setup: Setup, change: Partial<Gpu>) =>
  replicaOf({ ...setup, gpu: { ...setup.gpu, ...change } }, factors)!;

describe('more of a load', () => {
  it('never lowers the latency of a closed loop', () => {
    holds('clients', fc.tuple(setup, lengths, clients, clients), ([one, size, a, b]) => {
      const replica = replicaOf(one, factors)!;
      const less = closedLoop(replica, Math.min(a, b), size);
      const more = closedLoop(replica, Math.max(a, b), size);
      expect(more.tpot * MORE).toBeGreaterThanOrEqual(less.tpot);
      expect(more.ttft * MORE).toBeGreaterThanOrEqual(less.ttft);
    });
  });

  it('never lowers the latency of an open loop, and never ends an overload', () => {
    const rate = fc.double({ min: 0.001, max: 50, noNaN: true });
    holds('rates', fc.tuple(setup, lengths, rate, factor), ([one, size, perSecond, by]) => {
      const replica = replicaOf(one, factors)!;
      const less = openLoop(replica, perSecond, size);
      const more = openLoop(replica, perSecond * by, size);
      if (!less) expect(more).toBeUndefined();
      if (!less || !more) return;
      expect(more.tpot * (1 + 1e-6)).toBeGreaterThanOrEqual(less.tpot);
      expect(more.ttft * (1 + 1e-6)).toBeGreaterThanOrEqual(less.ttft);
    });
  });

  it('never lowers the time to the first token by a longer prompt, nor TPOT', () => {
    holds('prompts', fc.tuple(setup, lengths, factor, clients), ([one, size, by]) => {
      const replica = replicaOf(one, factors)!;
      const longer = { ...size, input: Math.round(size.input * by) };
      const [less, more] = [closedLoop(replica, 1, size), closedLoop(replica, 1, longer)];
      expect(more.ttft * MORE).toBeGreaterThanOrEqual(less.ttft);
      expect(more.tpot * MORE).toBeGreaterThanOrEqual(less.tpot);
    });
  });
});

describe('more of a GPU', () => {
  it('never lowers speed by more bandwidth', () => {
    holds('bandwidth', fc.tuple(setup, lengths, clients, factor), ([one, size, n, by]) => {
      const faster = withGpu(one, { memoryBandwidthGBs: one.gpu.memoryBandwidthGBs * by });
      notSlower(closedLoop(faster, n, size), closedLoop(replicaOf(one, factors)!, n, size));
    });
  });

  it('never lowers speed by more FLOP/s', () => {
    holds('FLOP/s', fc.tuple(setup, lengths, clients, factor), ([one, size, n, by]) => {
      const peaks = Object.entries(one.gpu.peakDenseTflops).map(([precision, peak]) => [precision, peak * by]);
      const faster = withGpu(one, { peakDenseTflops: Object.fromEntries(peaks) as Gpu['peakDenseTflops'] });
      notSlower(closedLoop(faster, n, size), closedLoop(replicaOf(one, factors)!, n, size));
    });
  });

  it('never makes a model unfit by more memory, and room for fewer sequences', () => {
    holds(
      'memory',
      fc.tuple(setup, fc.integer({ min: 1, max: 200_000 }), clients, factor),
      ([one, context, batch, by]) => {
        const less = fits({ ...one, context, batch });
        // The same engine settings: they depend on the size of the card.
        const more = fits({ ...one, context, batch, gpu: { ...one.gpu, memoryGb: one.gpu.memoryGb * by } });
        if (one.gpu.memoryGb >= 75 || one.gpu.memoryGb * by < 75) {
          if (less.fits) expect(more.fits).toBe(true);
          expect(more.sequences).toBeGreaterThanOrEqual(less.sequences);
        }
      },
    );
  });

  function notSlower(faster: ReturnType<typeof closedLoop>, slower: ReturnType<typeof closedLoop>) {
    expect(faster.tpot).toBeLessThanOrEqual(slower.tpot * MORE);
    expect(faster.ttft).toBeLessThanOrEqual(slower.ttft * MORE);
    expect(faster.rate * MORE).toBeGreaterThanOrEqual(slower.rate);
  }
});

describe('memory', () => {
  it('never shrinks with context or batch, and weights never with bytes per weight', () => {
    const sizes = fc.tuple(
      fc.integer({ min: 1, max: 300_000 }),
      clients,
      factor,
      factor,
      fc.constantFrom(...PRECISIONS),
    );
    holds('context and batch', fc.tuple(setup, sizes), ([one, [context, batch, longer, wider, other]]) => {
      const less = fits({ ...one, context, batch }).parts;
      const more = fits({ ...one, context: Math.round(context * longer), batch: Math.round(batch * wider) }).parts;
      expect(more.total).toBeGreaterThanOrEqual(less.total);
      expect(more.cache).toBeGreaterThanOrEqual(less.cache);
      const [a, b] = [weightFormat(one.precision), weightFormat(other)];
      const outside = (format: typeof a) => format.outsideExperts ?? format.bytes;
      if (a.bytes <= b.bytes && a.embeddingBytes <= b.embeddingBytes && outside(a) <= outside(b))
        expect(less.weights).toBeLessThanOrEqual(fits({ ...one, precision: other, context, batch }).parts.weights);
    });
  });
});

describe('a prediction', () => {
  it('is a positive finite number inside its range, or says why there is none', () => {
    const any: fc.Arbitrary<CatalogueModel> = fc.constantFrom(...models);
    holds('predictions', fc.tuple(setup, any, lengths, clients), ([one, model, size, n]) => {
      const { memory, ttft, tpot, rate, decode } = predict(
        { ...one, model, lengths: size, load: { clients: n } },
        calibration,
      );
      for (const value of [ttft, tpot, rate]) {
        if (!isEstimate(value)) continue;
        expect(memory.fits).toBe(true);
        expect(value.low).toBeGreaterThan(0);
        expect(value.low).toBeLessThan(value.value);
        expect(value.high).toBeGreaterThan(value.value);
        expect(Number.isFinite(value.high)).toBe(true);
        expect(value.error).toBeLessThanOrEqual(0.35);
      }
      if (!decode) return;
      const { weights, cache, compute, link, fixed, total, bound } = decode;
      expect(weights + cache + compute + link + fixed).toBeCloseTo(total, 9);
      expect(decode[bound]).toBe(Math.max(weights, cache, compute, link, fixed));
    });
  });

  it('never assumes more than 95 % of a peak', () => {
    for (const family of GPU_FAMILIES)
      for (const engine of ENGINES)
        for (const precision of PRECISIONS) {
          const { group } = weightFormat(precision);
          const found = efficiencies(factors, { family, group, engine, link: 'NVLink' });
          for (const part of ['stream', 'compute', 'cache', 'attention', 'expertStream', 'expertCompute'] as const) {
            expect(found[part]).toBeLessThanOrEqual(0.95);
            expect(found[part]).toBeGreaterThan(0.05);
          }
        }
  });
});
