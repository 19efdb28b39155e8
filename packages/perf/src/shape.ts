import type { CatalogueModel } from './catalogue.ts';
import { type Precision, weightFormat } from './precision.ts';

/** Counts of a text model that memory and speed are computed from. */
export interface Shape {
  layers: number;
  /** Pairs of an attention and a feed-forward part: hybrids count each part as a layer. */
  blocks: number;
  hiddenSize: number;
  heads: number;
  /** Heads by their size: elements of a token inside attention. */
  width: number;
  /** Width of the feed-forward part that one token passes through. */
  feedForward: number;
  /** Parameters outside experts, embedding and head. */
  denseParameters: number;
  /** Of those, what one token passes through: towers for images and unused parts are left out. */
  activeDenseParameters: number;
  /** Parameters of one expert over all its layers. */
  expertParameters: number;
  experts: number;
  /** Layers with experts. */
  expertLayers: number;
  activeExperts: number;
  /** Parameters of the embedding, and of the head where it is not the same matrix. */
  embeddingParameters: number;
  headParameters: number;
  tied: boolean;
  attention: Attention;
}

export interface Attention {
  /** Elements that one token adds to the cache: in layers that keep all tokens, and in windowed layers. */
  fullElements: number;
  windowElements: number;
  window: number;
  /** KV heads of the cache, past which tensor parallel copies it; 1 for a shared latent. */
  kvHeads: number;
  /** Bytes that a sequence keeps whatever its length (linear attention, Mamba). */
  stateBytes: number;
  /** FLOPs of one new token on one cached token, per layer kind: decode and prefill differ for MLA. */
  decodeFlopsFull: number;
  prefillFlopsFull: number;
  flopsWindow: number;
  /** Tokens that sparse attention reads of the cache at most. */
  readAtMost: number;
  /** The published numbers do not determine the cache; what is given here is the most it can be. */
  isUpperBound: boolean;
}

const known = new WeakMap<CatalogueModel, Shape | undefined>();

/** The shape of a model that generates text, or `undefined` for others and for those whose numbers are not known. */
export function shapeOf(model: CatalogueModel): Shape | undefined {
  if (!known.has(model)) known.set(model, readShape(model));
  return known.get(model);
}

function readShape(model: CatalogueModel): Shape | undefined {
  const { layers, hiddenSize, heads, kvHeads, vocabSize, parameters } = model;
  if (!layers || !hiddenSize || !heads || !kvHeads || !vocabSize || model.kind) return undefined;
  if (model.encoderLayers) return undefined;
  if (!model.headDim && !model.mla) return undefined;

  const embeddingParameters = vocabSize * hiddenSize;
  const tied = model.tiedEmbeddings ?? false;
  const headParameters = tied ? 0 : embeddingParameters;
  const { experts, expertLayers, expertParameters, activeExperts } = expertsOf(model, layers, hiddenSize);
  const outside = Math.max(0, parameters.total - experts * expertParameters - embeddingParameters - headParameters);
  const stated = parameters.active
    ? parameters.active - activeExperts * expertParameters - embeddingParameters
    : undefined;
  return {
    layers,
    blocks: model.hybridPattern ? layers / 2 : layers,
    hiddenSize,
    heads,
    width: heads * (model.headDim ?? model.mla!.vHeadDim),
    feedForward: experts
      ? activeExperts * (model.moeIntermediateSize ?? 0)
      : (model.intermediateSize ?? 4 * hiddenSize),
    denseParameters: outside,
    activeDenseParameters: stated && stated > 0 ? Math.min(outside, stated) : outside,
    expertParameters,
    experts,
    expertLayers,
    activeExperts,
    embeddingParameters,
    headParameters,
    tied,
    attention: attentionOf(model, layers, hiddenSize, heads, kvHeads),
  };
}

/**
 * Gated experts have three matrices of `hiddenSize × moeIntermediateSize`; those of the Mamba hybrid have two (the count
 * of its parameters fits no other reading).
 */
function expertsOf(model: CatalogueModel, layers: number, hiddenSize: number) {
  const { experts = 0, activeExperts = 0, moeIntermediateSize, hybridPattern } = model;
  if (!experts || !moeIntermediateSize) return { experts: 0, expertLayers: 0, activeExperts: 0, expertParameters: 0 };
  const expertLayers = hybridPattern?.moe ?? Math.floor(layers / (model.moeLayerStep ?? 1)) - (model.denseLayers ?? 0);
  const matrices = hybridPattern ? 2 : 3;
  return {
    experts,
    expertLayers,
    activeExperts,
    expertParameters: expertLayers * matrices * hiddenSize * moeIntermediateSize,
  };
}

/**
 * KV cache and attention work. Sources: cache of MHA, GQA and MQA `2·L·g·d` elements per token (arXiv 2211.05102); MLA
 * `L·(kvLoraRank + qkRopeHeadDim)` and its absorbed decode `2·L·h·(2·kvLoraRank + qkRopeHeadDim)` FLOPs (arXiv
 * 2405.04434); scores and values `4·L·h·d` FLOPs per pair of tokens (arXiv 2402.16363).
 */
function attentionOf(model: CatalogueModel, layers: number, hidden: number, heads: number, kvHeads: number): Attention {
  const { mla, slidingWindow, linearAttention, hybridPattern } = model;
  const headDim = model.headDim ?? 0;
  const readAtMost = model.sparseAttention?.indexTopK ?? Infinity;
  if (mla) {
    const { kvLoraRank, qkRopeHeadDim, qkNopeHeadDim, vHeadDim } = mla;
    return {
      fullElements: layers * (kvLoraRank + qkRopeHeadDim),
      windowElements: 0,
      window: 0,
      kvHeads: 1,
      stateBytes: 0,
      decodeFlopsFull: 2 * layers * heads * (2 * kvLoraRank + qkRopeHeadDim),
      prefillFlopsFull: 2 * layers * heads * (qkNopeHeadDim + qkRopeHeadDim + vHeadDim),
      flopsWindow: 0,
      readAtMost,
      isUpperBound: false,
    };
  }
  const hasState = Boolean(linearAttention || hybridPattern);
  // Compressed sparse attention, and hybrids that do not say how many of their layers keep all tokens.
  const isUpperBound =
    Boolean(model.sparseAttention) || Boolean((hasState || slidingWindow) && !model.fullAttentionLayers);
  const full = isUpperBound ? layers : (model.fullAttentionLayers ?? layers);
  const windowed = hasState || isUpperBound || !slidingWindow ? 0 : layers - full;
  const stateLayers = hasState && !isUpperBound ? (hybridPattern?.mamba ?? layers - full) : 0;
  const globalHeads = model.globalKvHeads ?? kvHeads;
  const globalDim = model.globalHeadDim ?? headDim;
  const flops = 4 * full * heads * globalDim;
  return {
    fullElements: 2 * full * globalHeads * globalDim,
    windowElements: 2 * windowed * kvHeads * headDim,
    window: slidingWindow ?? 0,
    kvHeads: globalHeads,
    // Computed: twice the hidden size of value channels by 128 of state, 32-bit, as Gated DeltaNet and Mamba 2 keep.
    stateBytes: stateLayers * 2 * hidden * 128 * 4,
    decodeFlopsFull: flops,
    prefillFlopsFull: flops,
    flopsWindow: 4 * windowed * heads * headDim,
    readAtMost,
    isUpperBound,
  };
}

/** Bytes of all weights. Embedding and head often stay at 16 bits in quantised files: they are counted apart. */
export function weightBytes(shape: Shape, precision: Precision): number {
  const format = weightFormat(precision);
  const outside = shape.experts ? (format.outsideExperts ?? format.bytes) : format.bytes;
  return (
    shape.experts * shape.expertParameters * format.bytes +
    shape.denseParameters * outside +
    (shape.embeddingParameters + shape.headParameters) * format.embeddingBytes
  );
}

/** Bytes of the cache of one sequence on one of `gpus` GPUs. Past the number of KV heads, tensor parallel copies it. */
export function sequenceBytes({ attention }: Shape, tokens: number, bytesPerElement: number, gpus: number): number {
  const { fullElements, windowElements, window, stateBytes } = attention;
  const elements = fullElements * tokens + windowElements * Math.min(tokens, window);
  return elements * bytesPerElement * cacheShare(attention, gpus) + stateBytes / gpus;
}

/** Part of the cache that each of n GPUs holds: `max(1, g/n)` of g heads (arXiv 1909.08053); a latent is copied. */
export const cacheShare = ({ kvHeads }: Attention, gpus: number) => Math.max(1, kvHeads / gpus) / kvHeads;
