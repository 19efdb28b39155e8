import type { CatalogueModel, Gpu } from '@stagi/perf/catalogue.ts';
import { COUNTS, type Count } from '@stagi/perf/leastGpus.ts';
import { type Fit, fits } from '@stagi/perf/memory.ts';
import { type PublishedFile, QUALITIES, type Quality } from '@stagi/perf/quality.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { cacheBytesOf, chosenEngine, chosenFile } from '../setup.ts';

/** Where a model is to run, as the panels show it. */
export interface Shown {
  model: CatalogueModel;
  files: readonly PublishedFile[];
  gpu: Gpu;
  count: Count;
  quality: Quality;
  file: PublishedFile;
}

/** One change that makes a model fit. */
export type Remedy = { count: Count } | { quality: Quality } | { context: number } | { batch: number };

export function fitOf(
  { model, gpu, count, file }: Pick<Shown, 'model' | 'gpu' | 'count' | 'file'>,
  choice: ModelChoice,
): Fit {
  const engine = chosenEngine(file, gpu, choice);
  const { context, batch } = choice;
  const { precision } = file;
  return fits({ model, gpu, count, precision, context, batch, engine, cacheBytes: cacheBytesOf(choice) });
}

/** What would make it fit, each by itself: more GPUs, a smaller file, a shorter context, fewer sequences. */
export function remediesOf(shown: Shown, choice: ModelChoice): Remedy[] {
  const isFitting = (changed: Partial<Shown>, other: Partial<ModelChoice> = {}) =>
    fitOf({ ...shown, ...changed }, { ...choice, ...other }).fits;
  const remedies: Remedy[] = [];
  const count = COUNTS.find((more) => more > shown.count && isFitting({ count: more }));
  if (count) remedies.push({ count });
  const smaller = QUALITIES.slice(0, QUALITIES.indexOf(shown.quality)).toReversed();
  const quality = smaller.find((one) => {
    const file = chosenFile(shown.files, one, choice);
    return file && isFitting({ file });
  });
  if (quality) remedies.push({ quality });
  const context = most(choice.context, (tokens) => isFitting({}, { context: tokens }));
  if (context >= SHORTEST) remedies.push({ context: context - (context % SHORTEST) });
  const batch = most(choice.batch, (sequences) => isFitting({}, { batch: sequences }));
  if (batch > 0) remedies.push({ batch });
  return remedies;
}

/** Below this number of tokens a context is of no use, and as a step it makes a round number. */
const SHORTEST = 256;

/** The greatest whole number below one that is too much; 0 if none is little enough. */
function most(tooMuch: number, isFitting: (value: number) => boolean): number {
  let low = 0;
  let high = tooMuch;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isFitting(middle)) low = middle;
    else high = middle;
  }
  return low;
}
