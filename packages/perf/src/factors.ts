import type { Gpu } from './catalogue.ts';
import type { Engine } from './engines.ts';
import type { PrecisionGroup } from './precision.ts';

/** GPUs that share an architecture and a kind of memory, and so efficiency factors. */
export const GPU_FAMILIES = [
  'older',
  'ampere-hbm',
  'ampere-gddr',
  'ada',
  'hopper',
  'blackwell-hbm',
  'blackwell-gddr',
  'cdna',
] as const;
export type GpuFamily = (typeof GPU_FAMILIES)[number];

export function familyOf({ computeCapability }: Gpu): GpuFamily {
  if (computeCapability.startsWith('gfx')) return 'cdna';
  const version = Number(computeCapability);
  if (version < 8) return 'older';
  if (version < 8.6) return 'ampere-hbm';
  if (version < 8.9) return 'ampere-gddr';
  if (version < 9) return 'ada';
  if (version < 10) return 'hopper';
  return version < 12 ? 'blackwell-hbm' : 'blackwell-gddr';
}

/**
 * Fitted constants by name: a base, and effects of family, precision and engine that are added to it. Efficiencies are
 * on a logistic scale, times on a logarithmic one. A missing effect is 0.
 */
export type Factors = Readonly<Record<string, number>>;

/** No factor reaches the ideal: one beyond it would be a fault of the formula. */
const MOST = 0.95;
/** A logistic value to a share between 0 and 0.95. */
const share = (value: number) => MOST / (1 + Math.exp(-value));
export const logistic = (part: number) => -Math.log(MOST / part - 1);

/** What a fit starts from and is held near, with how far it may go (one standard deviation). */
export const PRIORS: Record<string, { mean: number; deviation: number }> = {
  // inference.md, "Efficiency factors": streaming 0.8, matrix work 0.35 to 0.7, experts lower.
  stream: { mean: logistic(0.75), deviation: 0.5 },
  compute: { mean: logistic(0.55), deviation: 0.5 },
  cache: { mean: logistic(0.6), deviation: 0.5 },
  attention: { mean: logistic(0.5), deviation: 0.5 },
  expertStream: { mean: logistic(0.55), deviation: 0.7 },
  expertCompute: { mean: logistic(0.35), deviation: 0.7 },
  // Exponent of the tokens that choose experts independently: real routing is skewed and reaches fewer experts.
  routing: { mean: logistic(0.8), deviation: 0.5 },
  // Scheduling on the host per step, and 3 µs per kernel with about four memory-bound kernels per layer.
  stepMs: { mean: Math.log(0.8), deviation: 0.5 },
  layerUs: { mean: Math.log(12), deviation: 0.4 },
  // Router, sorting, gathering, activation and sum of experts: about 13 kernels of 3 µs.
  expertLayerUs: { mean: Math.log(40), deviation: 0.7 },
  // Scheduling, sampling and detokenising of a sequence on the host.
  sequenceUs: { mean: Math.log(15), deviation: 0.5 },
  requestMs: { mean: Math.log(12), deviation: 0.5 },
  // Part of the other prompts of a closed loop that a prompt waits for: tools send ten requests per client, of which the
  // first of all clients come at once and wait for half of them.
  burst: { mean: logistic(0.05), deviation: 0.3 },
  // Latency of a collective: 8 to 10 µs in two public models.
  linkUs: { mean: Math.log(9), deviation: 0.3 },
};
/** How far an effect of family, precision, engine or link may go. */
export const effectDeviation = (name: string) => (name.startsWith('linkUs/') ? 0.3 : 0.5);

export interface Efficiencies {
  /** Part of the peak bandwidth at which weights are read. */
  stream: number;
  /** Part of the peak FLOP/s of matrix work. */
  compute: number;
  /** Part of the peak bandwidth at which the KV cache is read. */
  cache: number;
  /** Part of the 16-bit peak in attention. */
  attention: number;
  /** The same of experts, whose matrices are small and unevenly used. */
  expertStream: number;
  expertCompute: number;
  /** Exponent of the tokens that choose experts independently. */
  routing: number;
  /** Seconds. */
  perStep: number;
  perLayer: number;
  perExpertLayer: number;
  perSequence: number;
  perRequest: number;
  perCollective: number;
  burst: number;
}

export interface FactorKey {
  family: GpuFamily;
  group: PrecisionGroup;
  engine: Engine | 'vllm-0.7';
  link: 'NVLink' | 'PCIe' | 'Infinity Fabric';
}

/** The effects that are added for one kind of factor. */
export const EFFECTS: Record<string, readonly (keyof FactorKey)[]> = {
  stream: ['family', 'group', 'engine'],
  compute: ['family', 'group', 'engine'],
  cache: ['engine'],
  attention: [],
  expertStream: ['group'],
  expertCompute: ['group'],
  routing: [],
  stepMs: ['engine'],
  layerUs: [],
  expertLayerUs: [],
  sequenceUs: ['engine'],
  requestMs: ['engine'],
  burst: [],
  linkUs: ['link'],
};

export function efficiencies(factors: Factors, key: FactorKey): Efficiencies {
  const sum = (kind: string) =>
    EFFECTS[kind]!.reduce(
      (total, effect) => total + (factors[`${kind}/${key[effect]}`] ?? 0),
      factors[kind] ?? PRIORS[kind]!.mean,
    );
  return {
    stream: share(sum('stream')),
    compute: share(sum('compute')),
    cache: share(sum('cache')),
    attention: share(sum('attention')),
    expertStream: share(sum('expertStream')),
    expertCompute: share(sum('expertCompute')),
    routing: share(sum('routing')),
    perStep: Math.exp(sum('stepMs')) / 1e3,
    perLayer: Math.exp(sum('layerUs')) / 1e6,
    perExpertLayer: Math.exp(sum('expertLayerUs')) / 1e6,
    perSequence: Math.exp(sum('sequenceUs')) / 1e6,
    perRequest: Math.exp(sum('requestMs')) / 1e3,
    perCollective: Math.exp(sum('linkUs')) / 1e6,
    burst: share(sum('burst')),
  };
}
