import { z } from 'zod';

/**
 * Where a number comes from: a file of a public repository, a page, a vendor's data sheet, or a computation from other
 * numbers of the same entry.
 */
export const Source = z.union([
  z.strictObject({
    repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
    commit: z.string().optional(),
    path: z.string().min(1),
    note: z.string().min(1),
  }),
  z.strictObject({ url: z.url({ protocol: /^https$/ }), repo: z.string().optional(), note: z.string().min(1) }),
  z.strictObject({ computed: z.string().min(1) }),
]);

/** Source of a whole entry. An entry without one is refused. */
export const Sources = z.union([z.array(Source).min(1), z.literal('vendor datasheet, general knowledge')]);

/**
 * A repository on the hub, and one of several files in it. Both stand in commands that start engines, so they begin with a
 * letter or a digit, as no option does, and have no spaces, quotes or signs of a shell.
 */
export const REPOSITORY = /^[A-Za-z0-9][\w.-]*\/[\w][\w.-]*$/;
export const VARIANT = /^[A-Za-z0-9][\w.-]*$/;
const variant = z.string().max(100).regex(VARIANT);

const positive = z.number().positive();
const count = z.int().positive();

export const Gpu = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  name: z.string().min(1),
  vendor: z.enum(['NVIDIA', 'AMD']),
  class: z.enum(['datacenter', 'workstation', 'consumer']),
  architecture: z.string().min(1),
  /** CUDA compute capability (`9.0`) or ROCm target (`gfx942`). */
  computeCapability: z.string().regex(/^(\d+\.\d|gfx\w+)$/),
  /** As marketed. */
  memoryGb: positive,
  memoryType: z.string().min(1),
  /** 10⁹ bytes per second, peak. */
  memoryBandwidthGBs: positive,
  /** TFLOPS (TOPS for int8), dense. A missing precision has no tensor rate on that GPU. */
  peakDenseTflops: z.strictObject({
    fp32: positive.optional(),
    tf32: positive.optional(),
    bf16: positive.optional(),
    fp16: positive,
    fp8: positive.optional(),
    int8: positive.optional(),
    fp4: positive.optional(),
  }),
  interconnect: z.strictObject({
    kind: z.enum(['NVLink', 'PCIe', 'Infinity Fabric']),
    /** GB/s of one GPU in one direction, all links together. */
    perDirectionGBs: positive,
    /** Point-to-point fabrics: GB/s between two GPUs in one direction. */
    perPeerPerDirectionGBs: positive.optional(),
    pcieGen: z.int().min(3).max(7),
    /** GPUs that the link joins. */
    ways: z.int().min(2).optional(),
    note: z.string().optional(),
  }),
  tdpWatts: positive,
  alsoSold: z.string().optional(),
  source: Sources,
  doubts: z.string().optional(),
});
export type Gpu = z.infer<typeof Gpu>;

export const MODEL_TASKS = [
  'text-generation',
  'reasoning',
  'code',
  'vision-language',
  'embedding',
  'reranker',
  'speech-to-text',
  'text-to-speech',
  'image-generation',
  'video-generation',
] as const;

/** What the formulas read of a model. All counts; bytes and times follow from them. */
const architecture = {
  layers: count.optional(),
  hiddenSize: count.optional(),
  heads: count.optional(),
  kvHeads: count.optional(),
  headDim: count.optional(),
  intermediateSize: count.optional(),
  vocabSize: count.optional(),
  contextLength: count.optional(),
  tiedEmbeddings: z.boolean().optional(),
  experts: count.optional(),
  activeExperts: count.optional(),
  moeIntermediateSize: count.optional(),
  sharedExperts: count.optional(),
  sharedExpertIntermediateSize: count.optional(),
  /** First layers that have a dense feed-forward part. */
  denseLayers: count.optional(),
  denseIntermediateSize: count.optional(),
  /** Every n-th layer has experts. */
  moeLayerStep: count.optional(),
  mla: z
    .strictObject({
      kvLoraRank: count,
      qLoraRank: count.optional(),
      qkRopeHeadDim: count,
      qkNopeHeadDim: count,
      vHeadDim: count,
    })
    .optional(),
  /** Layers whose cache grows with the whole sequence; the others are capped by `slidingWindow` or keep a fixed state. */
  fullAttentionLayers: count.optional(),
  fullAttentionInterval: count.optional(),
  slidingWindow: count.optional(),
  /** Heads of the full-attention layers, where they differ from the windowed ones. */
  globalKvHeads: count.optional(),
  globalHeadDim: count.optional(),
  linearAttention: z.boolean().optional(),
  sparseAttention: z.strictObject({ indexTopK: count }).optional(),
  hybridPattern: z.strictObject({ mamba: z.int(), attention: z.int(), moe: z.int(), mlp: z.int() }).optional(),
};

export const CatalogueModel = z.strictObject({
  /** Repository on the hub. */
  id: z.string().max(200).regex(REPOSITORY),
  name: z.string().min(1),
  publisher: z.string().min(1),
  task: z.enum(MODEL_TASKS),
  licence: z.string().optional(),
  parameters: z.strictObject({ total: count, active: count.optional() }),
  ...architecture,
  embeddingDimensions: count.optional(),
  encoderLayers: count.optional(),
  decoderLayers: count.optional(),
  melBins: count.optional(),
  audioContext: count.optional(),
  doubleLayers: count.optional(),
  singleLayers: count.optional(),
  kind: z.string().optional(),
  capabilities: z.array(z.string()).optional(),
  /** Published files, each a repository on the hub. */
  precisions: z.array(
    z.strictObject({
      precision: z.string(),
      repository: z.string().max(200).regex(REPOSITORY),
      variants: z.array(variant).optional(),
      filesGB: z.record(variant, positive).optional(),
      filesGiB: z.record(variant, positive).optional(),
    }),
  ),
  /** A date, or a month where the day is not known. */
  releasedAt: z
    .string()
    .regex(/^\d{4}-\d{2}(-\d{2})?$/)
    .optional(),
  links: z.array(z.string()),
  source: Sources,
  doubts: z.string().optional(),
});
export type CatalogueModel = z.infer<typeof CatalogueModel>;

const Length = z.union([z.int().positive(), z.string(), z.null()]);

export const Measurement = z.strictObject({
  id: z.string().regex(/^m\d+$/),
  model: z.string(),
  precision: z.string(),
  engine: z.string(),
  engineVersion: z.string().optional(),
  gpu: z.string(),
  /** GPUs of one replica. */
  gpuCount: count,
  tensorParallel: count,
  inputTokens: Length,
  outputTokens: Length,
  load: z.union([
    z.strictObject({ kind: z.enum(['concurrency', 'static-batch', 'decode-batch-per-gpu']), value: count }),
    z.strictObject({ kind: z.literal('offline'), requests: count }),
    z.strictObject({ kind: z.literal('request-rate'), perSecond: positive, arrivals: z.string().optional() }),
    z.strictObject({ kind: z.literal('not stated') }),
  ]),
  phase: z.string(),
  measured: z.strictObject({
    ttftMs: positive.optional(),
    ttftMsP50: positive.optional(),
    tpotMs: positive.optional(),
    tpotMsP50: positive.optional(),
    itlMs: positive.optional(),
    itlMsP50: positive.optional(),
    outputTokensPerS: positive.optional(),
    prefillTokensPerS: positive.optional(),
    decodeTokensPerS: positive.optional(),
    tokensPerS: positive.optional(),
  }),
  throughputScope: z.string(),
  confidence: z.enum(['high', 'medium', 'low']),
  source: z.union([Source, z.array(Source).min(1)]),
  measuredAt: z.string().optional(),
  doubts: z.string().optional(),
});
export type Measurement = z.infer<typeof Measurement>;

export const GpuFile = z.strictObject({
  units: z.record(z.string(), z.string()),
  notes: z.array(z.string()),
  gpus: z.array(Gpu),
});
export const ModelFile = z.strictObject({ notes: z.array(z.string()), models: z.array(CatalogueModel) });
export const MeasurementFile = z.strictObject({
  notes: z.array(z.string()),
  count,
  measurements: z.array(Measurement),
});
