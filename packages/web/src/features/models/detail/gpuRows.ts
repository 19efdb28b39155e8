import type { ModelFit } from '@stagi/contract/models.ts';
import type { CatalogueModel, Gpu } from '@stagi/perf/catalogue.ts';
import { type LeastGpus, leastGpus } from '@stagi/perf/leastGpus.ts';
import { type PublishedFile, QUALITIES, type Quality } from '@stagi/perf/quality.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { cacheBytesOf, chosenEngine, chosenFile } from '../setup.ts';

export type PricedOffer = ModelFit['cheapest'][number];

/** A GPU of the matrix with its cheapest offer. */
export interface GpuRow {
  gpu: Gpu;
  cheapest: PricedOffer | undefined;
}

/** What is rented most where this installation offers nothing else. */
const COMMON = ['l4', 'rtx-4090', 'l40s', 'a100-sxm-80', 'h100-sxm', 'h200-sxm', 'mi300x', 'b200-sxm'];

/** First the GPUs that can be rented here, by price, then the common ones, then all others. */
export function gpuRows(gpus: readonly Gpu[], offers: readonly PricedOffer[]): { first: GpuRow[]; others: GpuRow[] } {
  const rows = gpus.map((gpu) => ({ gpu, cheapest: cheapestOf(offers, gpu.id) }));
  const offered = rows
    .filter(({ cheapest }) => cheapest)
    .toSorted((a, b) => hourlyPrice(a.cheapest!) - hourlyPrice(b.cheapest!));
  const common = COMMON.flatMap((id) => rows.find(({ gpu, cheapest }) => gpu.id === id && !cheapest) ?? []);
  const first = [...offered, ...common];
  return { first, others: rows.filter((row) => !first.includes(row)) };
}

/** The cheapest offer of a GPU with at least so many of them. */
export function cheapestOf(offers: readonly PricedOffer[], gpu: string, count = 1): PricedOffer | undefined {
  return offers
    .filter((offer) => offer.gpu === gpu && offer.count >= count)
    .toSorted((a, b) => hourlyPrice(a) - hourlyPrice(b))[0];
}

/** In STAGI. */
export const hourlyPrice = ({ offer }: Pick<PricedOffer, 'offer'>): number =>
  Number(offer.pricePerHour.STAGI.decimalValue);

/** A cell of the matrix; without a file nobody publishes the quality. */
export interface Cell {
  quality: Quality;
  file: PublishedFile | undefined;
  least: LeastGpus | undefined;
}

export function cellsOf(entry: CatalogueModel, files: readonly PublishedFile[], gpu: Gpu, choice: ModelChoice): Cell[] {
  const { context, batch } = choice;
  return QUALITIES.map((quality) => {
    const file = chosenFile(files, quality, choice);
    if (!file) return { quality, file, least: undefined };
    const engine = chosenEngine(file, gpu, choice);
    const cacheBytes = cacheBytesOf(choice);
    return { quality, file, least: leastGpus({ model: entry, gpu, file, context, batch, engine, cacheBytes }) };
  });
}

/** `H100 SXM 80GB`: the vendor goes without saying. */
export const gpuName = ({ name }: Pick<Gpu, 'name'>): string => name.replace(/^(NVIDIA|AMD) /, '');
