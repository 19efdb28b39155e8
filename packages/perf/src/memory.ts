import type { CatalogueModel, Gpu } from './catalogue.ts';
import { type Engine, engineSettings } from './engines.ts';
import type { Precision } from './precision.ts';
import { type Shape, sequenceBytes, shapeOf, weightBytes } from './shape.ts';

const GIB = 2 ** 30;

/**
 * Bytes of the card that software sees. GDDR6 data centre cards keep 1/16 for ECC; elsewhere firmware keeps up to 4.5 %
 * (computed from the visible MiB that gpus.json quotes: 0.933 of the GiB on B300, 0.964 on GB200 and GB300).
 */
export function visibleBytes(gpu: Gpu): number {
  const hasInlineEcc = gpu.class === 'datacenter' && gpu.memoryType === 'GDDR6';
  return gpu.memoryGb * GIB * (hasInlineEcc ? 15 / 16 : gpu.architecture === 'Blackwell Ultra' ? 0.93 : 0.955);
}

/** Bytes on one GPU. */
export interface MemoryParts {
  weights: number;
  /** KV cache of the batch at the context. */
  cache: number;
  activations: number;
  runtime: number;
  total: number;
  /** What the engine may use. */
  budget: number;
}

export interface Fit {
  fits: boolean;
  /** Why not; `null` when it fits. */
  reason: null | 'weights' | 'cache' | 'context' | 'heads' | 'unknown';
  parts: MemoryParts;
  /** Sequences of this context that fit at once. */
  sequences: number;
  /** The cache is at most this: the published numbers do not determine it. */
  isUpperBound: boolean;
}

export interface MemoryRequest {
  model: CatalogueModel;
  gpu: Gpu;
  /** GPUs of one replica, tensor parallel. */
  count: number;
  precision: Precision;
  /** Tokens of a sequence, prompt and answer. */
  context: number;
  /** Sequences at once. */
  batch: number;
  engine?: Engine;
  /** Overrides the engine's default. */
  cacheBytes?: number;
  memoryShare?: number;
}

/**
 * Memory of one GPU by part, and whether all of it fits. Sources: inference.md, "Memory (per GPU)" and what it cites. A
 * model whose shape is unknown is judged by its weights alone.
 */
export function fits(request: MemoryRequest): Fit {
  const { model, gpu, count, precision, context, batch, engine = 'vllm' } = request;
  const settings = engineSettings(engine, gpu, precision);
  const budget = visibleBytes(gpu) * (request.memoryShare ?? settings.memoryShare);
  const shape = shapeOf(model);
  const runtime = runtimeBytes(count);
  if (!shape) {
    const weights = (model.parameters.total * bytesOfUnknownShape(precision)) / count;
    const parts = { weights, cache: 0, activations: 0, runtime, total: weights + runtime, budget };
    const isTooBig = parts.total > budget;
    // What these models need beside weights is not known: they are said to fit only with a fifth to spare.
    const reason = isTooBig || parts.total * 1.25 > budget ? 'weights' : null;
    return { fits: !reason, reason, parts, sequences: reason ? 0 : 1, isUpperBound: true };
  }
  const weights = weightBytes(shape, precision) / count;
  const activations = activationBytes(shape, Math.min(settings.stepTokens, Math.max(context, 1)), count);
  const perSequence = sequenceBytes(shape, context + BLOCK / 2, request.cacheBytes ?? settings.cacheBytes, count);
  const cache = perSequence * batch;
  const left = budget - weights - activations - runtime;
  const parts = { weights, cache, activations, runtime, total: weights + cache + activations + runtime, budget };
  const sequences = left <= 0 ? 0 : Math.min(settings.sequences, Math.floor(left / perSequence));
  const reason = whyNot();
  return { fits: reason === null, reason, parts, sequences, isUpperBound: shape.attention.isUpperBound };

  function whyNot(): Fit['reason'] {
    if (shape!.heads % count !== 0) return 'heads';
    if (left <= 0) return 'weights';
    if (model.contextLength && context > model.contextLength) return 'context';
    return cache > left ? 'cache' : null;
  }
}

/** Tokens of a cache block: half of one is lost per sequence on average (arXiv 2309.06180). */
const BLOCK = 16;

/**
 * Activations of the largest step: `2·T·h·d·c` bytes, c = 11, 6.5, 5 for 1, 2, 4 or more GPUs, doubled for experts.
 * Source: ai-dynamo/aiconfigurator, memory model.
 */
export function activationBytes({ width, experts }: Shape, tokens: number, gpus: number): number {
  const [one, two, more] = experts ? [22, 13, 10] : [11, 6.5, 5];
  return 2 * tokens * width * (gpus === 1 ? one! : gpus < 4 ? two! : more!);
}

/**
 * Context, kernels and graphs, and from two GPUs on the buffer of collectives. Source: ai-dynamo/aiconfigurator counts
 * 3.5 GB in all as a safe figure, of which the engine's memory share leaves the rest outside the budget.
 */
export const runtimeBytes = (gpus: number) => (gpus > 1 ? 1.39e9 : 1e9);

/** Sequences that can run at once while each grows from `input` to `input + output` tokens: near the mean of both. */
export function runningLimit(shape: Shape, left: number, mean: number, cacheBytes: number, gpus: number): number {
  return left <= 0 ? 0 : left / sequenceBytes(shape, mean + BLOCK / 2, cacheBytes, gpus);
}

function bytesOfUnknownShape(precision: Precision): number {
  return precision === 'fp32' ? 4 : precision === 'fp8' || precision === 'int8' ? 1 : 2;
}
