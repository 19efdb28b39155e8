import type { CatalogueModel, Gpu } from './catalogue.ts';
import { ENGINES, type Engine } from './engines.ts';
import { type Fit, fits } from './memory.ts';
import { runsOn } from './predict.ts';
import type { PublishedFile } from './quality.ts';

/** GPUs of one server that share a model. */
export const COUNTS = [1, 2, 4, 8] as const;
export type Count = (typeof COUNTS)[number];

/** The engine that a file is judged with when none is chosen. */
export const engineOf = ({ format }: PublishedFile): Engine => (format === 'gguf' ? 'llama.cpp' : 'vllm');

/** Engines that load a file on GPUs of this kind. */
export const enginesFor = ({ precision }: PublishedFile, gpu: Pick<Gpu, 'vendor'>): Engine[] =>
  ENGINES.filter((engine) => runsOn(engine, precision, gpu));

export interface LeastGpus {
  /** `null`: not on eight of them either. */
  count: Count | null;
  /** With that many, else with eight. */
  fit: Fit;
}

/** How many GPUs of a kind a model needs at least: 1, 2, 4 or 8. */
export function leastGpus(request: {
  model: CatalogueModel;
  gpu: Gpu;
  file: PublishedFile;
  context: number;
  batch: number;
  engine?: Engine;
  /** Of an element of the KV cache; the engine's default when missing. */
  cacheBytes?: number;
}): LeastGpus {
  const engine = request.engine ?? engineOf(request.file);
  const { precision } = request.file;
  let last: Fit | null = null;
  for (const count of COUNTS) {
    const fit = fits({ ...request, precision, count, engine });
    if (fit.fits) return { count, fit };
    // Heads that do not divide say nothing about memory: the last count that does is the reason.
    if (fit.reason !== 'heads' || !last) last = fit;
  }
  return { count: null, fit: last! };
}
