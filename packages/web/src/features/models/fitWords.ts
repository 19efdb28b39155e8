import { text } from '@stagi/contract/text.ts';
import type { Engine } from '@stagi/perf/engines.ts';
import type { Fit } from '@stagi/perf/memory.ts';
import type { Bound, NotPredicted } from '@stagi/perf/predict.ts';
import type { PublishedFile } from '@stagi/perf/quality.ts';

/** Why a speed is not told. */
export const NOT_PREDICTED_WORDS: Record<NotPredicted, string> = {
  'does not fit': text('Not predicted: the model does not fit.'),
  'no formula': text('Not predicted: there is no formula for models of this kind. Memory alone is computed.'),
  engine: text('Not predicted: this engine does not run these files on this GPU.'),
  'several servers': text('Not predicted: these GPUs do not stand in one server.'),
  'not measured': text('Not predicted: nobody has published measurements of this precision on GPUs of this family.'),
  'error too large': text('Not predicted: measurements differ from the formula by more than 35 %.'),
  overload: text('Overload: requests arrive faster than they are answered, so the queue grows without end.'),
};

/** The same in two or three words, for tables. */
export const NOT_PREDICTED_SHORT: Record<NotPredicted, string> = {
  'does not fit': text('Does not fit'),
  'no formula': text('No formula'),
  engine: text('Engine does not run it'),
  'several servers': text('Several servers'),
  'not measured': text('Not measured'),
  'error too large': text('Error above 35 %'),
  overload: text('Overload'),
};

type WhyNot = NonNullable<Fit['reason']>;

/** Why a model does not fit. */
export const WHY_NOT_WORDS: Record<WhyNot, string> = {
  weights: text('The weights leave no memory for anything else.'),
  cache: text('The weights fit, but the KV cache of this context and batch does not.'),
  context: text('The context is longer than this model reads.'),
  heads: text('The attention heads of this model cannot be shared by this number of GPUs.'),
  unknown: text('The published numbers do not say how much memory it needs.'),
};

/** The same in a cell. */
export const WHY_NOT_SHORT: Record<WhyNot, string> = {
  weights: text('Too large'),
  cache: text('Cache too large'),
  context: text('Context too long'),
  heads: text('Heads do not divide'),
  unknown: text('Not known'),
};

/** What takes the most time of a step. */
export const BOUND_WORDS: Record<Bound, string> = {
  weights: text('reading the weights from memory'),
  cache: text('reading the KV cache from memory'),
  compute: text('computing'),
  link: text('the link between the GPUs'),
  fixed: text('fixed work of the engine'),
};

/** Names that no language translates. */
export const ENGINE_NAMES: Record<Engine, string> = {
  vllm: 'vLLM',
  sglang: 'SGLang',
  'tensorrt-llm': 'TensorRT-LLM',
  lmdeploy: 'LMDeploy',
  'llama.cpp': 'llama.cpp',
};

export const FORMAT_NAMES: Record<PublishedFile['format'], string> = { safetensors: 'Safetensors', gguf: 'GGUF' };
