import type { CatalogueModel, Gpu } from './catalogue.ts';
import { type Engine, engineSettings } from './engines.ts';
import { efficiencies, type FactorKey, type Factors, familyOf } from './factors.ts';
import { activationBytes, runningLimit, runtimeBytes, visibleBytes } from './memory.ts';
import { type Precision, peakFlops, weightFormat } from './precision.ts';
import { shapeOf, weightBytes } from './shape.ts';
import { linkOf, type Replica } from './step.ts';

export interface Setup {
  model: CatalogueModel;
  gpu: Gpu;
  /** GPUs of one replica, tensor parallel. */
  count: number;
  precision: Precision;
  engine: Engine;
  /** Bytes of an element of the KV cache; the engine's default when missing. */
  cacheBytes?: number;
  /** Part of the GPU's memory that the engine takes; its default when missing. */
  memoryShare?: number;
}

/** The replica of a setup, or `undefined` for a model whose shape is unknown. Nothing here depends on the load. */
export function replicaOf(
  setup: Setup,
  factors: Factors,
  engineKey: FactorKey['engine'] = setup.engine,
): Replica | undefined {
  const { model, gpu, count, precision, engine } = setup;
  const shape = shapeOf(model);
  if (!shape) return undefined;
  const settings = engineSettings(engine, gpu, precision);
  const cacheBytes = setup.cacheBytes ?? settings.cacheBytes;
  const format = weightFormat(precision);
  const link = linkOf(gpu, count);
  const budget = visibleBytes(gpu) * (setup.memoryShare ?? settings.memoryShare);
  const weights = weightBytes(shape, precision);
  const left = budget - weights / count - activationBytes(shape, settings.stepTokens, count) - runtimeBytes(count);
  const outside = shape.experts ? (format.outsideExperts ?? format.bytes) : format.bytes;
  // llama.cpp accumulates in fp16, for which consumer cards have twice the rate that is listed.
  const accumulation = engine === 'llama.cpp' && gpu.class === 'consumer' ? 2 : 1;
  const key = { family: familyOf(gpu), group: format.group, engine: engineKey, link: link.kind };
  return {
    shape,
    gpus: count,
    bandwidth: gpu.memoryBandwidthGBs * 1e9,
    flops: peakFlops(gpu, precision) * accumulation,
    flops16: peakFlops(gpu, 'bf16') * accumulation,
    link: link.rate,
    efficiency: efficiencies(factors, key),
    denseBytes: shape.activeDenseParameters * outside,
    headBytes: (shape.headParameters || shape.embeddingParameters) * format.embeddingBytes,
    expertBytes: shape.expertParameters * format.bytes,
    cacheBytes,
    stepTokens: settings.stepTokens,
    runningLimit: (mean) => Math.min(settings.sequences, runningLimit(shape, left, mean, cacheBytes, count)),
  };
}
