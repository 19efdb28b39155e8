import { bandOf, type Calibration, type Metric, MOST_ERROR } from './calibration.ts';
import type { CatalogueModel, Gpu } from './catalogue.ts';
import type { Engine } from './engines.ts';
import { type Fit, fits } from './memory.ts';
import type { Precision } from './precision.ts';
import { replicaOf, type Setup } from './replica.ts';
import { closedLoop, type Lengths, openLoop, type Served } from './serving.ts';
import { shapeOf } from './shape.ts';
import type { StepTime } from './step.ts';

/** Clients that each wait for their answer, or requests that arrive per second. */
export type Load = { clients: number } | { perSecond: number };

export interface PredictionRequest extends Setup {
  lengths: Lengths;
  load: Load;
}

/** What limits a step: reads of weights, reads of the KV cache, FLOPs, the link between GPUs, or fixed work. */
export type Bound = 'weights' | 'cache' | 'compute' | 'link' | 'fixed';

/** A value with the range that four fifths of the held-out measurements had around their predictions. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
  /** 0.2 is −17 % to +20 %. */
  error: number;
  /** Measurements that the range rests on. */
  n: number;
}

/** Why something is not predicted. */
export type NotPredicted =
  | 'does not fit'
  | 'no formula'
  | 'engine'
  | 'several servers'
  | 'not measured'
  | 'error too large'
  | 'overload';

export interface Prediction {
  memory: Fit;
  /** Seconds to the first token; a wait for memory is in it. */
  ttft: Estimate | NotPredicted;
  /** Seconds between two tokens of an answer (ITL on average). */
  tpot: Estimate | NotPredicted;
  /** Output tokens per second of all GPUs. */
  rate: Estimate | NotPredicted;
  /** Sequences that run at once, and whether requests wait for memory. `null` where nothing is predicted. */
  load: { running: number; saturated: boolean } | null;
  /** Parts of a decode step and of a prompt, in seconds, and the greatest of each. */
  decode: (StepTime & { bound: Bound }) | null;
  prefill: (StepTime & { bound: Bound }) | null;
}

export const isEstimate = (value: Estimate | NotPredicted): value is Estimate => typeof value !== 'string';

/** Memory and speed of a model on GPUs under a load. Speed is left out, with the reason, where it is not known well. */
export function predict(request: PredictionRequest, calibration: Calibration): Prediction {
  const { model, gpu, count, precision, engine, lengths } = request;
  const memory = fits({ ...request, context: lengths.input + lengths.output, batch: 1 });
  const served = serve(request, memory, calibration);
  if (typeof served === 'string')
    return { memory, ttft: served, tpot: served, rate: served, load: null, decode: null, prefill: null };

  const moe = Boolean(model.experts);
  const estimate = (metric: Metric, value: number): Estimate | NotPredicted => {
    const band = bandOf(calibration, gpu, precision, moe, metric);
    if (!band) return 'not measured';
    if (band.error > MOST_ERROR) return 'error too large';
    const factor = 1 + band.error;
    return { value, low: value / factor, high: value * factor, error: band.error, n: band.n };
  };
  return {
    memory,
    ttft: estimate('TTFT', served.ttft),
    tpot: estimate('TPOT', served.tpot),
    rate: estimate('throughput', served.rate),
    load: { running: served.running, saturated: served.saturated },
    decode: { ...served.step, bound: boundOf(served.step) },
    prefill: { ...served.prefill, bound: boundOf(served.prefill) },
  };

  function serve(
    _: PredictionRequest,
    { fits: isFitting, isUpperBound }: Fit,
    { factors }: Calibration,
  ): Served | NotPredicted {
    if (!isFitting) return 'does not fit';
    if (isUpperBound || !generatesText(model)) return 'no formula';
    if (!runsOn(engine, precision, gpu)) return 'engine';
    if (count > (gpu.interconnect.ways === 72 ? 72 : 8)) return 'several servers';
    const replica = replicaOf(request, factors);
    if (!replica) return 'no formula';
    if ('clients' in request.load) return closedLoop(replica, request.load.clients, lengths);
    return openLoop(replica, request.load.perSecond, lengths) ?? 'overload';
  }
}

/** Whether a model answers with text, token by token: the formulas are of such. Speech models are not measured. */
export const generatesText = ({ task }: Pick<CatalogueModel, 'task'>): boolean =>
  task === 'text-generation' || task === 'reasoning' || task === 'code' || task === 'vision-language';

/** Whether an engine reads files of this format, on GPUs of this vendor. */
export function runsOn(engine: Engine, precision: Precision, gpu: Pick<Gpu, 'vendor'>): boolean {
  if (engine === 'llama.cpp') return precision.startsWith('gguf-') || precision === 'fp16' || precision === 'bf16';
  if (precision.startsWith('gguf-')) return false;
  return gpu.vendor === 'NVIDIA' || engine === 'vllm' || engine === 'sglang';
}

export function boundOf(time: StepTime): Bound {
  const kinds: Bound[] = ['weights', 'cache', 'compute', 'link', 'fixed'];
  return kinds.reduce((most, kind) => (time[kind] > time[most] ? kind : most));
}

/** Price of a million output tokens, in the unit of the hourly price. */
export const costPerMillion = (pricePerHour: number, tokensPerSecond: number) =>
  (pricePerHour / 3600 / tokensPerSecond) * 1e6;

export interface Offer {
  gpu: Gpu;
  count: number;
  pricePerHour: number;
}

export interface Goal {
  /** Seconds. */
  ttft?: number;
  tpot?: number;
}

export interface RankedOffer<T extends Offer> {
  offer: T;
  /** GPUs of it that one replica uses: heads must divide by their number. */
  used: number;
  prediction: Prediction;
  /** Per million output tokens; `null` where the rate is not predicted. */
  cost: number | null;
  /** `null`: not known. */
  meetsGoal: boolean | null;
}

/**
 * Offers by the price of a million output tokens: first those that meet the goal, then those whose speed is not known by
 * hourly price, then those that miss the goal, last those that do not fit. Equal GPUs are predicted once.
 */
export function rankOffers<T extends Offer>(
  request: Omit<PredictionRequest, 'gpu' | 'count'>,
  offers: readonly T[],
  goal: Goal,
  calibration: Calibration,
): RankedOffer<T>[] {
  const heads = shapeOf(request.model)?.heads ?? 1;
  const known = new Map<string, { used: number; prediction: Prediction }>();
  const ranked = offers.map((offer) => {
    const key = `${offer.gpu.id}×${offer.count}`;
    let found = known.get(key);
    if (!found) {
      const used = usedGpus(heads, offer.count);
      found = { used, prediction: predict({ ...request, gpu: offer.gpu, count: used }, calibration) };
      known.set(key, found);
    }
    const { rate } = found.prediction;
    const cost = isEstimate(rate) ? costPerMillion(offer.pricePerHour, rate.value) : null;
    return { offer, ...found, cost, meetsGoal: meets(found.prediction, goal) };
  });
  return ranked.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.cost ?? Infinity) - (b.cost ?? Infinity) ||
      a.offer.pricePerHour - b.offer.pricePerHour ||
      0,
  );
}

/** The most GPUs of an offer that share the heads evenly. */
export function usedGpus(heads: number, count: number): number {
  for (let n = Math.min(count, 8); n > 1; n -= 1) if (heads % n === 0) return n;
  return 1;
}

function meets({ memory, ttft, tpot }: Prediction, goal: Goal): boolean | null {
  if (!memory.fits) return false;
  const checks = [
    [goal.ttft, ttft],
    [goal.tpot, tpot],
  ] as const;
  const asked = checks.filter(([limit]) => limit !== undefined);
  if (asked.some(([limit, value]) => isEstimate(value) && value.value > limit!)) return false;
  if (ttft === 'overload') return false;
  return asked.some(([, value]) => !isEstimate(value)) ? null : true;
}

function rank({ prediction, meetsGoal, cost }: RankedOffer<Offer>): number {
  if (!prediction.memory.fits) return 3;
  if (meetsGoal === false) return 2;
  return meetsGoal === null || cost === null ? 1 : 0;
}
