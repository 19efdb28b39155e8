import type { Metric } from '../calibration.ts';
import type { CatalogueModel, Gpu, Measurement } from '../catalogue.ts';
import type { Engine } from '../engines.ts';
import { type FactorKey, type Factors, familyOf, type GpuFamily } from '../factors.ts';
import { type Precision, type PrecisionGroup, precisionOf, weightFormat } from '../precision.ts';
import { replicaOf, type Setup } from '../replica.ts';
import { closedLoop, type Lengths, offline, openLoop, promptTime, staticBatch } from '../serving.ts';

/** A measured row as the formulas read it. */
export interface Observation {
  id: string;
  row: Measurement;
  setup: Setup;
  engineKey: FactorKey['engine'];
  family: GpuFamily;
  group: PrecisionGroup;
  isMoe: boolean;
  /** Models of one shape predict each other: they are held out together. */
  shapeKey: string;
  /** Rows of one run, which differ in load alone. */
  seriesKey: string;
  weight: number;
}

export interface Compared {
  metric: Metric;
  /** Milliseconds, or tokens per second. */
  measured: number;
  predicted: number;
}

/** Why a row says nothing about the formulas, or `null`. Decided by the setup, never by the error. */
export function excluded(row: Measurement): string | null {
  if (row.confidence === 'low') return 'confidence low: the source does not say what it counts';
  if (row.doubts?.includes('suspect')) return 'suspect by its source: a twin run took half the time';
  if (row.engine === 'vendor stack') return 'large expert-parallel group: tensor parallel is not what ran';
  return null;
}

export function observationOf(row: Measurement, models: readonly CatalogueModel[], gpus: readonly Gpu[]): Observation {
  const model = models.find(({ id }) => id === row.model);
  const gpu = gpus.find(({ id }) => id === row.gpu);
  const precision = precisionIn(row);
  if (!model || !gpu || !precision) throw new Error(`${row.id}: unknown model, GPU or precision`);
  const { engine, engineKey } = engineIn(row);
  const setup = { model, gpu, count: row.tensorParallel, precision, engine, ...cacheIn(row) };
  return {
    id: row.id,
    row,
    setup,
    engineKey,
    family: familyOf(gpu),
    group: weightFormat(precision).group,
    isMoe: Boolean(model.experts),
    shapeKey: `${model.layers}×${model.hiddenSize}×${model.experts ?? 0}`,
    seriesKey: `${row.model} ${row.gpu}×${row.gpuCount} ${row.engine} ${row.precision}`,
    weight: row.confidence === 'high' ? 1 : 0.7,
  };
}

/** `fp4` of gpt-oss is mxfp4, of others nvfp4. */
function precisionIn({ model, precision }: Measurement): Precision | undefined {
  return precision === 'fp4' && model.startsWith('openai/') ? 'mxfp4' : precisionOf(precision);
}

/** Before 0.8 vLLM had another engine core, whose host work per step was several times as long. */
function engineIn({ engine, engineVersion }: Measurement): { engine: Engine; engineKey: FactorKey['engine'] } {
  if (engine === 'vLLM') return { engine: 'vllm', engineKey: engineVersion?.startsWith('0.7.') ? 'vllm-0.7' : 'vllm' };
  const found = { SGLang: 'sglang', 'llama.cpp': 'llama.cpp', 'LMDeploy TurboMind': 'lmdeploy' }[engine] as Engine;
  return { engine: found ?? 'tensorrt-llm', engineKey: found ?? 'tensorrt-llm' };
}

function cacheIn({ doubts }: Measurement) {
  return doubts?.includes('fp8 cache') ? { cacheBytes: 1 } : {};
}

/** Numbers in `280 median (ShareGPT mix)`, `up to 512, 310 median`, `about 200`; no number is a short chat. */
export function lengthsIn(row: Measurement): Lengths & { longest: number; stated: boolean } {
  const input = numberIn(row.inputTokens);
  const output = numberIn(row.outputTokens);
  // A mix of chats: its longest answer, which a run waits for, is several times its mean.
  const isMix = row.doubts?.includes('mix');
  const longest = /up to (\d+)/.exec(String(row.outputTokens))?.[1] ?? (isMix ? 4 * (output ?? 200) : undefined);
  return {
    input: input ?? 100,
    output: output ?? 200,
    longest: Number(longest ?? output ?? 200),
    stated: input !== undefined && output !== undefined,
  };
}

function numberIn(length: Measurement['inputTokens']): number | undefined {
  if (typeof length === 'number') return length;
  const found = /(\d+) median/.exec(length ?? '')?.[1] ?? /about (\d+)/.exec(length ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Each metric of a row beside its prediction. */
export function compare({ row, setup, engineKey }: Observation, factors: Factors): Compared[] {
  const replica = replicaOf(setup, factors, engineKey);
  if (!replica) return [];
  const { load, measured } = row;
  const lengths = lengthsIn(row);
  const found: Compared[] = [];
  const add = (metric: Metric, value: number | undefined, predicted: number) => {
    if (value !== undefined) found.push({ metric, measured: value, predicted });
  };
  const tpot = measured.tpotMs ?? measured.tpotMsP50 ?? measured.itlMs ?? measured.itlMsP50;
  const ttft = measured.ttftMs ?? measured.ttftMsP50;
  if (measured.prefillTokensPerS) {
    // A rate of prompts alone, where the engine was fed as fast as it went; per GPU.
    const perGpu = row.throughputScope === 'per GPU' ? row.gpuCount : 1;
    add('TTFT', (lengths.input / measured.prefillTokensPerS / perGpu) * 1e3, promptTime(replica, lengths.input) * 1e3);
    // llama-bench measures generation from an empty context.
    const served = closedLoop(replica, 1, { input: 1, output: lengths.output });
    add('TPOT', measured.outputTokensPerS && 1e3 / measured.outputTokensPerS, served.tpot * 1e3);
    return found;
  }
  switch (load.kind) {
    case 'concurrency': {
      const served = closedLoop(replica, load.value, lengths);
      add('TPOT', tpot, served.tpot * 1e3);
      // What waits in a queue is no error of the formulas.
      if (!served.saturated && lengths.stated) add('TTFT', ttft, served.ttft * 1e3);
      if (lengths.stated || !tpot) add('throughput', measured.outputTokensPerS, served.rate);
      break;
    }
    case 'request-rate': {
      const served = openLoop(replica, load.perSecond, lengths);
      if (!served) break;
      add('TPOT', tpot, served.tpot * 1e3);
      add('TTFT', ttft, served.ttft * 1e3);
      break;
    }
    case 'offline': {
      add('throughput', measured.outputTokensPerS, offline(replica, load.requests, lengths, lengths.longest));
      // Its TPOT holds the prompts of all others, which come at once: no steady state.
      break;
    }
    case 'static-batch': {
      if (lengths.output === 1) add('TTFT', ttft, promptTime(replica, lengths.input * load.value) * 1e3);
      else add('throughput', measured.outputTokensPerS, staticBatch(replica, load.value, lengths).rate);
      break;
    }
    case 'decode-batch-per-gpu': {
      const served = staticBatch(replica, load.value * row.gpuCount, lengths);
      const step = served.tpot;
      add('throughput', measured.decodeTokensPerS, load.value / step);
      break;
    }
    case 'not stated':
      break;
  }
  return found;
}
