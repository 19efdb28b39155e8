import type { CatalogueModel, Gpu } from '@stagi/perf/catalogue.ts';
import type { Engine } from '@stagi/perf/engines.ts';
import { engineOf, enginesFor } from '@stagi/perf/leastGpus.ts';
import { generatesText } from '@stagi/perf/predict.ts';
import { fileOf, type PublishedFile, type Quality } from '@stagi/perf/quality.ts';
import { shapeOf } from '@stagi/perf/shape.ts';
import type { ModelChoice } from './modelChoice.ts';

/** Whether the speed of a model can be computed, if somebody has measured such a setup. */
export const hasFormula = (model: CatalogueModel): boolean => generatesText(model) && shapeOf(model) !== undefined;

/** The file of a quality: in the chosen format where it is published in that. */
export const chosenFile = (
  files: readonly PublishedFile[],
  quality: Quality,
  { format }: Pick<ModelChoice, 'format'>,
): PublishedFile | undefined => fileOf(files, quality, format ?? undefined) ?? fileOf(files, quality);

/** The chosen engine where it runs the file on that GPU, else the one that does. */
export function chosenEngine(file: PublishedFile, gpu: Gpu, { engine }: Pick<ModelChoice, 'engine'>): Engine {
  return engine && enginesFor(file, gpu).includes(engine) ? engine : engineOf(file);
}

/** The chosen engine, if it reads the file on any GPU. */
export const engineOfFile = (file: PublishedFile, { engine }: Pick<ModelChoice, 'engine'>): Engine | undefined =>
  enginesFor(file, { vendor: 'NVIDIA' }).find((one) => one === engine);

/** Elements of the KV cache in bytes; the engine's own where nothing is chosen. */
export const cacheBytesOf = ({ has8BitCache }: Pick<ModelChoice, 'has8BitCache'>): number | undefined =>
  has8BitCache ? 1 : undefined;
