/**
 * Predictions of inference: one model on one GPU, and one model ranked over 5,000 offers, 500 of them with GPUs that no
 * other offer has, so that their predictions are not shared. Prints n, median and p99, and whether the goal is met.
 */
import type { Gpu } from '@stagi/perf/catalogue.ts';
import { gpus, models } from '@stagi/perf/catalogueFiles.ts';
import { calibration } from '@stagi/perf/checkedCalibration.ts';
import { predict, rankOffers } from '@stagi/perf/predict.ts';
import { percentile } from './million.ts';
import { median } from './report.ts';

const PAIR_MS = 5;
const OFFERS_MS = 500;
const OFFERS = 5_000;
const ROUNDS = 20;
const load = { lengths: { input: 1_000, output: 500 }, load: { clients: 32 } } as const;
const setup = { precision: 'fp8', engine: 'vllm', ...load } as const;

const pairs = models.flatMap((model) => gpus.map((gpu) => ({ model, gpu })));
measure(`one model on one GPU, closed loop`, PAIR_MS, pairs.length, (n) => {
  predict({ ...pairs[n]!, count: 1, ...setup }, calibration);
});
measure(`one model on one GPU, open loop`, PAIR_MS, pairs.length, (n) => {
  predict({ ...pairs[n]!, count: 1, ...setup, load: { perSecond: 2 } }, calibration);
});

const offers = Array.from({ length: OFFERS }, (_, n) => {
  const gpu = gpus[n % gpus.length]!;
  const own: Gpu = n % 10 === 0 ? { ...gpu, id: `${gpu.id}-${n}`, memoryGb: gpu.memoryGb + n / OFFERS } : gpu;
  return { gpu: own, count: [1, 2, 4, 8][n % 4]!, pricePerHour: 0.1 + (n % 97) / 10 };
});
const text = models.filter(({ task }) => task === 'text-generation');
measure(`one model over ${OFFERS} offers`, OFFERS_MS, ROUNDS, (n) => {
  const ranked = rankOffers({ model: text[n % text.length]!, ...setup }, offers, { tpot: 0.05 }, calibration);
  if (ranked.length !== OFFERS) throw new Error(`${ranked.length} offers`);
});

function measure(title: string, goalMs: number, rounds: number, act: (n: number) => void) {
  const took: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const start = performance.now();
    act(n);
    took.push(performance.now() - start);
  }
  const worst = percentile(took, 0.99);
  const met = worst <= goalMs;
  console.log(
    `${title}\n  median ${median(took).toFixed(3)} ms, p99 ${worst.toFixed(3)} ms, most ${Math.max(...took).toFixed(1)} ms, n = ${rounds}; goal p99 ≤ ${goalMs} ms: ${met ? 'met' : 'MISSED'}`,
  );
  if (!met) process.exitCode = 1;
}
