import type { Gpu } from './catalogue.ts';
import type { Efficiencies } from './factors.ts';
import { cacheShare, type Shape } from './shape.ts';

/** One replica of a model on its GPUs, with all that a step's duration depends on. */
export interface Replica {
  shape: Shape;
  /** GPUs, tensor parallel. */
  gpus: number;
  /** Bytes per second of one GPU, peak. */
  bandwidth: number;
  /** FLOP/s of one GPU, peak: for weights of the precision, and at 16 bits. */
  flops: number;
  flops16: number;
  /** Bytes per second of one GPU in one direction, already what collectives reach; Infinity for one GPU. */
  link: number;
  efficiency: Efficiencies;
  /** Bytes of weights outside the experts that each step reads, of the head, and of one expert. */
  denseBytes: number;
  headBytes: number;
  expertBytes: number;
  cacheBytes: number;
  /** Tokens of the largest step. */
  stepTokens: number;
  /** Sequences that may run at once. */
  runningLimit(meanTokens: number): number;
}

/** Seconds by what bounds them. */
export interface StepTime {
  weights: number;
  cache: number;
  compute: number;
  link: number;
  fixed: number;
  total: number;
}

export interface StepWork {
  /** Sequences that get one token each, and tokens that each has in the cache. */
  decode: number;
  context: number;
  /** Tokens of prompts, and tokens of those prompts that were processed before. */
  prompt: number;
  before: number;
  /** Tokens of one prompt in the step, where it holds several: they do not attend to each other. */
  each?: number;
}

/**
 * Duration of one step of the engine in seconds: weights are read once, each kind of kernel takes the longer of its reads
 * and its FLOPs. Sources: roofline per kernel, hahnyuan/LLM-Viewer and arXiv 2402.16363; a chunk of c tokens after p
 * cached ones costs `2·Pa·c + 4·L·h·d·c·(p + c/2)`, arXiv 2403.02310; fixed part, ai-dynamo/aiconfigurator.
 */
export function stepTime(replica: Replica, { decode, context, prompt, before, each = prompt }: StepWork): StepTime {
  const { shape, gpus, bandwidth, flops, flops16, efficiency } = replica;
  const tokens = decode + prompt;
  const time: StepTime = { weights: 0, cache: 0, compute: 0, link: 0, fixed: 0, total: 0 };
  const longer = (kind: 'weights' | 'cache', reading: number, computing: number) => {
    if (computing > reading) time.compute += computing;
    else time[kind] += reading;
  };

  const read = gpus * bandwidth * efficiency.stream;
  const compute = gpus * flops * efficiency.compute;
  longer('weights', replica.denseBytes / read, (2 * shape.activeDenseParameters * tokens) / compute);
  // The head runs for tokens that are sampled, at 16 bits.
  const sampled = decode + (prompt > 0 ? 1 : 0);
  const headFlops = 2 * (shape.headParameters || shape.embeddingParameters) * sampled;
  longer('weights', replica.headBytes / read, headFlops / (gpus * flops16 * efficiency.compute));
  if (shape.experts) {
    const bytes = touchedExperts(shape, tokens, efficiency.routing) * replica.expertBytes;
    const work = 2 * shape.activeExperts * shape.expertParameters * tokens;
    longer(
      'weights',
      bytes / (gpus * bandwidth * efficiency.expertStream),
      work / (gpus * flops * efficiency.expertCompute),
    );
  }

  const cacheRead = bandwidth * efficiency.cache;
  const attend = gpus * flops16 * efficiency.attention;
  const decoding = attended(replica, context);
  longer('cache', (decode * decoding.bytes) / cacheRead, (decode * decoding.decodeFlops) / attend);
  if (prompt > 0) {
    const earlier = attended(replica, before + each / 2);
    longer('cache', attended(replica, before).bytes / cacheRead, (prompt * earlier.prefillFlops) / attend);
  }

  // Norms, sums and activations between matrices: eight passes over the hidden size, which all GPUs repeat, and four over
  // the feed-forward width, 16-bit (hahnyuan/LLM-Viewer counts loads and stores of activations).
  const passes = shape.blocks * 2 * (8 * shape.hiddenSize + (4 * shape.feedForward) / gpus);
  time.compute += (tokens * passes) / (bandwidth * efficiency.stream);

  time.link = gpus > 1 ? 2 * shape.blocks * allReduce(replica, tokens) : 0;
  time.fixed =
    efficiency.perStep +
    efficiency.perSequence * decode +
    shape.blocks * efficiency.perLayer +
    shape.expertLayers * efficiency.perExpertLayer;
  time.total = time.weights + time.cache + time.compute + time.link + time.fixed;
  return time;
}

/**
 * Distinct experts that `tokens` tokens reach in a layer when each chooses k of E evenly: `E·(1 − (1 − k/E)^T)`. Source:
 * inference.md, "Mixture of experts". Real routing is skewed (aiconfigurator, POWER_LAW_DISTRIBUTION.md): tokens alike
 * choose alike, so that T^routing of them choose independently.
 */
export function touchedExperts({ experts, activeExperts }: Shape, tokens: number, routing: number): number {
  return experts * (1 - (1 - activeExperts / experts) ** (tokens > 1 ? tokens ** routing : tokens));
}

/** Bytes of the cache that one GPU reads for one token of a sequence of this length, and FLOPs of all GPUs on it. */
function attended({ shape, gpus, cacheBytes }: Replica, context: number) {
  const { attention } = shape;
  const full = Math.min(context, attention.readAtMost);
  const windowed = Math.min(context, attention.window);
  const elements = attention.fullElements * full + attention.windowElements * windowed;
  return {
    bytes: elements * cacheBytes * cacheShare(attention, gpus) + attention.stateBytes / gpus,
    decodeFlops: attention.decodeFlopsFull * full + attention.flopsWindow * windowed,
    prefillFlops: attention.prefillFlopsFull * full + attention.flopsWindow * windowed,
  };
}

/** Ring: `2·(n − 1)/n · bytes / link + latency`, 16-bit elements. Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md. */
function allReduce({ shape, gpus, link, efficiency }: Replica, tokens: number): number {
  return (2 * ((gpus - 1) / gpus) * tokens * shape.hiddenSize * 2) / link + efficiency.perCollective;
}

/** Part of the link's rate that collectives reach (alibaba/InferSim), and of PCIe where traffic crosses the host. */
const LINK_SHARE = 0.8;
const PCIE_SHARE = 0.5;

/** The link that a group of GPUs uses: more GPUs than it joins meet over PCIe. */
export function linkOf(
  { interconnect }: Gpu,
  gpus: number,
): { kind: 'NVLink' | 'PCIe' | 'Infinity Fabric'; rate: number } {
  const { kind, perDirectionGBs, perPeerPerDirectionGBs, pcieGen } = interconnect;
  if (kind === 'PCIe' || gpus > (interconnect.ways ?? 8))
    return { kind: 'PCIe', rate: PCIE_GBS[pcieGen]! * PCIE_SHARE * 1e9 };
  const used = perPeerPerDirectionGBs
    ? Math.min(perDirectionGBs, perPeerPerDirectionGBs * (gpus - 1))
    : perDirectionGBs;
  return { kind, rate: Math.max(used, 1) * LINK_SHARE * 1e9 };
}

/** 16 lanes in one direction, GB/s. */
const PCIE_GBS: Record<number, number> = { 3: 16, 4: 32, 5: 64, 6: 128, 7: 256 };
