import type { CatalogueModel, Gpu } from './catalogue.ts';
import type { Engine } from './engines.ts';
import { gpuOf } from './gpuNames.ts';
import { COUNTS, type Count, engineOf } from './leastGpus.ts';
import { type Fit, fits } from './memory.ts';
import { weightFormat } from './precision.ts';
import type { PublishedFile } from './quality.ts';
import { sequenceBytes, shapeOf, weightBytes } from './shape.ts';

/** What a server has, as its daemon reports it or as it is offered. */
export interface ServerFacts {
  gpus: readonly { name: string; memoryGb: number }[];
  ramBytes: number;
}

export type OnServer =
  /** On so many of its GPUs. */
  | { fits: true; on: 'gpu'; gpu: Gpu; count: Count; fit: Fit }
  /** In its memory: the engine computes with CPUs. */
  | { fits: true; on: 'cpu' }
  | { fits: false; reason: 'no gpu' | 'unknown gpu' | 'memory' | NonNullable<Fit['reason']> };

/** Files are mapped into memory whole; the system and the cache of a few sequences need the rest. */
const SHARE_OF_RAM = 0.85;

/**
 * Whether a model fits a server, on as few of its GPUs as possible. `onCpu`: the engine also runs without a GPU. GPUs of
 * one kind are counted; a server with several kinds is judged by its first.
 */
export function onServer(
  gpus: readonly Gpu[],
  server: ServerFacts,
  wanted: { model: CatalogueModel; file: PublishedFile; context: number; onCpu: boolean; engine?: Engine | null },
): OnServer {
  const [first] = server.gpus;
  if (!first) {
    if (!wanted.onCpu) return { fits: false, reason: 'no gpu' };
    const isSmall = weightsOf(wanted) < server.ramBytes * SHARE_OF_RAM;
    return isSmall ? { fits: true, on: 'cpu' } : { fits: false, reason: 'memory' };
  }
  const gpu = gpuOf(gpus, first.name, first.memoryGb);
  if (!gpu) return { fits: false, reason: 'unknown gpu' };
  const same = server.gpus.filter(({ name }) => name === first.name).length;
  const engine = wanted.engine ?? engineOf(wanted.file);
  let reason: NonNullable<Fit['reason']> = 'weights';
  for (const count of COUNTS.filter((n) => n <= same)) {
    const fit = fits({ ...wanted, precision: wanted.file.precision, gpu, count, batch: 1, engine });
    if (fit.fits) return { fits: true, on: 'gpu', gpu, count, fit };
    if (fit.reason && fit.reason !== 'heads') reason = fit.reason;
  }
  return { fits: false, reason };
}

/** Bytes of the weights, as published if that is known, and of the cache of one sequence. */
function weightsOf({ model, file, context }: { model: CatalogueModel; file: PublishedFile; context: number }): number {
  const shape = shapeOf(model);
  const cache = shape ? sequenceBytes(shape, context, 2, 1) : 0;
  const computed = shape
    ? weightBytes(shape, file.precision)
    : model.parameters.total * weightFormat(file.precision).bytes;
  return (file.bytes ?? computed) + cache;
}
