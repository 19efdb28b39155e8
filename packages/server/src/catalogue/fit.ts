import type { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import { type ModelFit, RANKED_MAX, type RankedOffer } from '@stagi/contract/models.ts';
import { text } from '@stagi/contract/text.ts';
import type { Gpu } from '@stagi/perf/catalogue.ts';
import { gpus } from '@stagi/perf/catalogueFiles.ts';
import { calibration } from '@stagi/perf/checkedCalibration.ts';
import { gpuOf } from '@stagi/perf/gpuNames.ts';
import { engineOf } from '@stagi/perf/leastGpus.ts';
import { type Prediction, predict, type RankedOffer as Ranked, rankOffers } from '@stagi/perf/predict.ts';
import { fileOf } from '@stagi/perf/quality.ts';
import type { Context } from '../context.ts';
import { invalid } from '../http/errors.ts';
import { allCloudSnapshots } from '../marketplace/cloudSnapshots.ts';
import { presentOffer, presentState, rentableOffers } from '../marketplace/offers.ts';
import { findModel } from './find.ts';
import { gpuById } from './list.ts';

type Input = ParsedInputOf<typeof api.models.fit>;
type Reading = Pick<Context, 'db' | 'log' | 'config' | 'providers'>;

interface PricedOffer {
  offer: Offer;
  gpu: Gpu;
  count: number;
  /** In micro-STAGI. */
  pricePerHour: number;
}

/** Memory and speed on the GPU that was asked for, and the offers by what a million tokens cost on them. */
export async function fitModel(ctx: Reading, input: Input) {
  const { entry, files, name } = await findModel(ctx, input.modelRef);
  const file = fileOf(files, input.quality, input.format);
  if (!file) throw invalid(text('Nobody publishes files of this quality'), 'quality');
  const engine = input.engine ?? engineOf(file);
  const request = { model: entry, precision: file.precision, engine, lengths: input.lengths, load: input.load };
  const { offers, unknown, providers } = await gpuOffers(ctx);
  const ranked = rankOffers(request, offers, goalOf(input.goal), calibration);
  const gpu = input.gpu && gpuById(input.gpu.id, 'gpu.id');
  const onGpu = gpu && {
    id: gpu.id,
    name: gpu.name,
    count: input.gpu!.count,
    prediction: presentPrediction(predict({ ...request, gpu, count: input.gpu!.count }, calibration)),
  };
  const entity: ModelFit = {
    model: name,
    file,
    engine,
    onGpu: onGpu ?? null,
    offers: ranked.slice(0, RANKED_MAX).map(presentRanked),
    cheapest: cheapestOffers(offers),
    counts: {
      all: offers.length + unknown,
      fitting: ranked.filter(({ prediction }) => prediction.memory.fits).length,
      unknown,
    },
  };
  return { isSuccess: true as const, entity, providers };
}

/** Offers with a GPU of the catalogue that can be rented now, and how many have another GPU. */
async function gpuOffers(ctx: Reading) {
  const seen = await allCloudSnapshots(ctx);
  const offers: PricedOffer[] = [];
  let unknown = 0;
  for (const snapshot of seen) {
    for (const rentable of rentableOffers(ctx.config, snapshot)) {
      if (!rentable.offer.gpu || rentable.offer.available === 0) continue;
      const { name, memoryGb, count } = rentable.offer.gpu;
      const gpu = gpuOf(gpus, name, memoryGb);
      const offer = presentOffer(ctx.config, rentable, snapshot.seenAt);
      if (gpu) offers.push({ offer, gpu, count, pricePerHour: Number(rentable.pricePerHour) });
      else unknown += 1;
    }
  }
  return { offers, unknown, providers: seen.map(presentState) };
}

function cheapestOffers(offers: readonly PricedOffer[]): ModelFit['cheapest'] {
  const cheapest = new Map<string, PricedOffer>();
  for (const priced of offers) {
    const key = `${priced.gpu.id}×${priced.count}`;
    const known = cheapest.get(key);
    if (!known || priced.pricePerHour < known.pricePerHour) cheapest.set(key, priced);
  }
  return [...cheapest.values()].map(({ gpu, count, offer }) => ({ gpu: gpu.id, count, offer }));
}

/** Without a goal for the time between tokens, answers should at least keep up with a reader. */
const READING_SPEED = 0.1;

function goalOf({ ttft, tpot }: Input['goal']) {
  return ttft === undefined && tpot === undefined ? { tpot: READING_SPEED } : definedOf({ ttft, tpot });
}

function definedOf({ ttft, tpot }: Input['goal']): { ttft?: number; tpot?: number } {
  return { ...(ttft !== undefined && { ttft }), ...(tpot !== undefined && { tpot }) };
}

function presentRanked({ offer, used, prediction, cost, meetsGoal }: Ranked<PricedOffer>): RankedOffer {
  return {
    offer: offer.offer,
    gpu: { id: offer.gpu.id, name: offer.gpu.name },
    used,
    prediction: presentPrediction(prediction),
    cost: cost === null ? null : { currency: CURRENCY, decimalValue: (cost / 1_000_000).toFixed(6) },
    meetsGoal,
  };
}

function presentPrediction({ memory, ttft, tpot, rate }: Prediction): RankedOffer['prediction'] {
  return { memory, ttft, tpot, rate };
}
