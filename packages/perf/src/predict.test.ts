import { describe, expect, it } from 'vitest';
import { gpus, models } from './catalogueFiles.ts';
import { calibration } from './checkedCalibration.ts';
import {
  costPerMillion,
  isEstimate,
  type Offer,
  type PredictionRequest,
  predict,
  rankOffers,
  usedGpus,
} from './predict.ts';

const model = (name: string) => models.find(({ id }) => id.endsWith(name))!;
const gpu = (id: string) => gpus.find((one) => one.id === id)!;
const request: PredictionRequest = {
  model: model('Llama-3.1-8B-Instruct'),
  gpu: gpu('h100-sxm'),
  count: 1,
  precision: 'bf16',
  engine: 'vllm',
  lengths: { input: 1000, output: 500 },
  load: { clients: 8 },
};
const predicted = (change: Partial<PredictionRequest>) => predict({ ...request, ...change }, calibration);

describe('predict', () => {
  it('answers memory, speed with its range, and what bounds it', () => {
    const { memory, tpot, rate, decode, prefill, load } = predicted({});
    expect(memory.fits).toBe(true);
    if (!isEstimate(tpot) || !isEstimate(rate)) throw new Error(`not predicted: ${tpot}`);
    // 15 GB of weights at 3.35 TB/s are 4.5 ms.
    expect(tpot.value).toBeGreaterThan(0.0045);
    expect(tpot.value).toBeLessThan(0.02);
    expect(rate.value).toBeCloseTo(8 / tpot.value, -2);
    expect(decode?.bound).toBe('weights');
    expect(prefill?.bound).toBe('compute');
    expect(load).toEqual({ running: 8, saturated: false });
  });

  it('says why it shows no speed', () => {
    expect(predicted({ model: model('Llama-3.1-405B-Instruct') }).tpot).toBe('does not fit');
    expect(predicted({ gpu: gpu('t4'), precision: 'awq' }).tpot).toBe('not measured');
    expect(predicted({ gpu: gpu('mi300x') }).tpot).toBe('not measured');
    expect(predicted({ count: 16 }).tpot).toBe('several servers');
    expect(predicted({ precision: 'gguf-q4_k_m' }).tpot).toBe('engine');
    expect(predicted({ load: { perSecond: 1_000 } }).tpot).toBe('overload');
    for (const silent of ['image-generation', 'embedding', 'reranker', 'speech-to-text', 'text-to-speech'] as const) {
      const ofTask = models.filter(({ task }) => task === silent);
      expect(ofTask.length).toBeGreaterThan(0);
      for (const one of ofTask)
        expect(predicted({ model: one, gpu: gpu('b300-sxm'), lengths: { input: 64, output: 8 } }).rate, one.id).toBe(
          'no formula',
        );
    }
    expect(predicted({ gpu: gpu('b200-sxm'), precision: 'fp8', model: model('Qwen3-30B-A3B') }).ttft).toBe(
      'error too large',
    );
  });

  it('calls a load saturated when requests wait for memory', () => {
    const few = predicted({ gpu: gpu('l4'), load: { clients: 4 } });
    const many = predicted({ gpu: gpu('l4'), load: { clients: 500 } });
    expect(few.load?.saturated).toBe(false);
    expect(many.load?.saturated).toBe(true);
    expect(many.load!.running).toBeLessThan(100);
  });
});

describe('rankOffers', () => {
  const offers: Offer[] = [
    { gpu: gpu('h100-sxm'), count: 1, pricePerHour: 3 },
    { gpu: gpu('h100-sxm'), count: 1, pricePerHour: 2.5 },
    { gpu: gpu('l4'), count: 1, pricePerHour: 0.5 },
    { gpu: gpu('t4'), count: 1, pricePerHour: 0.1 },
    { gpu: gpu('mi300x'), count: 1, pricePerHour: 2 },
    { gpu: gpu('a100-sxm-80'), count: 1, pricePerHour: 1.5 },
  ];

  it('puts the cheapest million tokens among those that meet the goal first, and what does not fit last', () => {
    const ranked = rankOffers(request, offers, { tpot: 0.03 }, calibration);
    expect(ranked.map(({ offer, meetsGoal }) => `${offer.gpu.id} ${offer.pricePerHour} ${meetsGoal}`)).toEqual([
      expect.stringMatching(/^(a100|h100).* true$/),
      expect.stringMatching(/^(a100|h100).* true$/),
      'h100-sxm 3 true',
      'mi300x 2 null',
      'l4 0.5 false',
      't4 0.1 false',
    ]);
    const [first, second] = ranked;
    expect(first!.cost).toBeLessThan(second!.cost!);
    const { rate } = first!.prediction;
    expect(isEstimate(rate) && costPerMillion(first!.offer.pricePerHour, rate.value)).toBe(first!.cost);
  });

  it('uses as many GPUs of an offer as share the heads evenly', () => {
    expect([1, 2, 3, 4, 6, 8, 16].map((count) => usedGpus(32, count))).toEqual([1, 2, 2, 4, 4, 8, 8]);
    expect(usedGpus(28, 8)).toBe(7);
  });
});
