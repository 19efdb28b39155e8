import type { Model } from '@stagi/contract/models.ts';
import { ENGINES, type Engine } from '@stagi/perf/engines.ts';
import type { Count } from '@stagi/perf/leastGpus.ts';
import type { Goal, Load } from '@stagi/perf/predict.ts';
import type { PublishedFile, Quality } from '@stagi/perf/quality.ts';
import type { Lengths } from '@stagi/perf/serving.ts';

/** How somebody would run a model: on which GPUs, which of its files, and under what load. */
export interface ModelChoice {
  /** An id of the catalogue; null until one is chosen. */
  gpu: string | null;
  count: Count;
  quality: Quality;
  /** Of the quality's files; null: the one that comes first. */
  format: PublishedFile['format'] | null;
  /** Null: the one that the file is judged with. */
  engine: Engine | null;
  /** Tokens of a sequence, and sequences at once, for which memory is counted. */
  context: number;
  batch: number;
  /** Whether the KV cache takes a byte for each element. */
  has8BitCache: boolean;
  load: Load;
  lengths: Lengths;
  /** In seconds. */
  goal: Goal & { tpot: number };
}

/** The least and the most of each number, as the call `api.models.fit` takes them. Goals are in milliseconds. */
export const LIMITS = {
  context: { min: 1, max: 10_000_000 },
  batch: { min: 1, max: 4096 },
  clients: { min: 1, max: 4096 },
  rate: { min: 0.001, max: 10_000 },
  input: { min: 1, max: 10_000_000 },
  output: { min: 1, max: 10_000_000 },
  tpot: { min: 1, max: 3_600_000 },
  ttft: { min: 1, max: 3_600_000 },
} as const;
export type LimitName = keyof typeof LIMITS;

const COUNTS: readonly Count[] = [1, 2, 4, 8];
const FORMATS = ['safetensors', 'gguf'] as const;
const DEFAULTS = { context: 8192, batch: 1, clients: 8, input: 1024, output: 256, tpot: 100 };

type Chosen = Pick<Model, 'qualities' | 'contextLength'>;

/** The choice that an address names. What it does not understand counts as not chosen. */
export function choiceIn(search: URLSearchParams, model: Chosen): ModelChoice {
  const number = (name: LimitName) => numberIn(search.get(name), name);
  const { qualities } = model;
  const rate = number('rate');
  const ttft = number('ttft');
  return {
    gpu: search.get('gpu'),
    count: COUNTS.find((count) => String(count) === search.get('count')) ?? 1,
    quality: qualities.find((quality) => quality === search.get('quality')) ?? qualities.at(-1) ?? 'original',
    format: FORMATS.find((format) => format === search.get('format')) ?? null,
    engine: ENGINES.find((engine) => engine === search.get('engine')) ?? null,
    context: number('context') ?? Math.min(DEFAULTS.context, model.contextLength ?? DEFAULTS.context),
    batch: number('batch') ?? DEFAULTS.batch,
    has8BitCache: search.get('cache') === '8',
    load: rate === null ? { clients: number('clients') ?? DEFAULTS.clients } : { perSecond: rate },
    lengths: { input: number('input') ?? DEFAULTS.input, output: number('output') ?? DEFAULTS.output },
    goal: { tpot: (number('tpot') ?? DEFAULTS.tpot) / 1000, ...(ttft !== null && { ttft: ttft / 1000 }) },
  };
}

/** Puts another choice into the parameters of an address. What is chosen by default stays out of it. */
export function putChoice(params: URLSearchParams, changed: Partial<ModelChoice>, model: Chosen): void {
  const usual = choiceIn(new URLSearchParams(), model);
  const put = (name: string, value: string | number | null | undefined, otherwise: unknown = null) => {
    if (value === null || value === undefined || value === otherwise) params.delete(name);
    else params.set(name, String(value));
  };
  if (changed.gpu !== undefined) put('gpu', changed.gpu);
  if (changed.count !== undefined) put('count', changed.count, 1);
  if (changed.quality !== undefined) put('quality', changed.quality, usual.quality);
  if (changed.format !== undefined) put('format', changed.format);
  if (changed.engine !== undefined) put('engine', changed.engine);
  if (changed.context !== undefined) put('context', changed.context, usual.context);
  if (changed.batch !== undefined) put('batch', changed.batch, usual.batch);
  if (changed.has8BitCache !== undefined) put('cache', changed.has8BitCache ? '8' : null);
  if (changed.load) {
    put('clients', 'clients' in changed.load ? changed.load.clients : null, DEFAULTS.clients);
    put('rate', 'perSecond' in changed.load ? changed.load.perSecond : null);
  }
  if (changed.lengths) {
    put('input', changed.lengths.input, DEFAULTS.input);
    put('output', changed.lengths.output, DEFAULTS.output);
  }
  if (changed.goal) {
    put('tpot', milliseconds(changed.goal.tpot), DEFAULTS.tpot);
    put('ttft', changed.goal.ttft === undefined ? null : milliseconds(changed.goal.ttft));
  }
}

/** Whether a number is one of those that are allowed there: whole, except requests per second. */
export function isAllowed(value: number, name: LimitName): boolean {
  const { min, max } = LIMITS[name];
  return value >= min && value <= max && (name === 'rate' || Number.isInteger(value));
}

function numberIn(text: string | null, name: LimitName): number | null {
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return isAllowed(value, name) ? value : null;
}

/** Without the dust of a division: 0.055 s are 55 ms. */
const milliseconds = (seconds: number): number => Math.round(seconds * 1000);
