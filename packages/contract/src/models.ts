import { CatalogueModel, Gpu, MODEL_TASKS, Sources } from '@stagi/perf/catalogue.ts';
import { ENGINES } from '@stagi/perf/engines.ts';
import { QUALITIES } from '@stagi/perf/quality.ts';
import { z } from 'zod';
import { call } from './call.ts';
import { Offer, ProviderState } from './hardware.ts';
import { EntityFilterRequest, listOf, oneOf } from './page.ts';
import { Money } from './price.ts';
import { text } from './text.ts';

const Task = z.enum(MODEL_TASKS);
export const Quality = z.enum(QUALITIES, text('Please choose a quality'));
const EngineName = z.enum(ENGINES, text('Please choose an engine'));
const GpuId = z.string().max(60);
/** GPUs of one server that share a model. */
const GpuCount = z.int().min(1).max(8);

/** The context in tokens at which the list judges whether a model fits a GPU, with one sequence. */
export const FIT_CONTEXT = 8192;

/** A model as lists show it. */
export const ModelCard = z.object({
  /** In its address: `/models/{name}`. */
  name: z.string(),
  /** Its repository on the hub. */
  id: z.string(),
  title: z.string(),
  publisher: z.string(),
  task: Task,
  /** As the hub calls it; null where the sources do not say. */
  licence: z.string().nullable(),
  parameters: z.object({ total: z.number(), active: z.number().nullable() }),
  /** In tokens; null for models without one, such as those of images. */
  contextLength: z.number().nullable(),
  /** A date, or a month. */
  releasedAt: z.string().nullable(),
  /** Those that somebody publishes files of. */
  qualities: z.array(Quality),
});
export type ModelCard = z.infer<typeof ModelCard>;

/** A published file of a model. */
export const ModelFile = z.object({
  quality: Quality,
  precision: z.string(),
  format: z.enum(['safetensors', 'gguf']),
  repository: z.string(),
  variant: z.string().nullable(),
  bytes: z.number().nullable(),
});

/** What an operator of this platform has added or changed of an entry. */
const EntryChange = z.object({
  /** `added`: the whole entry is the operator's. */
  kind: z.enum(['added', 'changed']),
  /** Its changed fields. */
  fields: z.array(z.string()),
  source: Sources,
  changedAt: z.string(),
});

export const Model = ModelCard.extend({
  /** The entry of the catalogue with its sources: what the formulas of `packages/perf` compute with. */
  entry: CatalogueModel,
  files: z.array(ModelFile),
  change: EntryChange.nullable(),
});
export type Model = z.infer<typeof Model>;

export const ModelRef = z.union(
  [z.object({ id: z.string().trim().min(1).max(200) }), z.object({ name: z.string().trim().min(1).max(200) })],
  text('Model is required'),
);
export type ModelRef = z.infer<typeof ModelRef>;

const ModelFilters = z.object({
  tasks: z.array(Task).max(MODEL_TASKS.length).optional(),
  publishers: z.array(z.string().max(100)).max(50).optional(),
  licences: z.array(z.string().max(100)).max(50).optional(),
  /** In parameters. */
  minParameters: z.number().min(0).optional(),
  maxParameters: z.number().min(0).optional(),
  /** In tokens. */
  minContext: z.number().min(0).optional(),
  /** Those that fit `gpuCount` GPUs of this kind with a context of 8,192 tokens, in the quality if one is given. */
  gpu: GpuId.optional(),
  gpuCount: GpuCount.default(1),
  quality: Quality.optional(),
});

export const MODEL_SORTS = ['name', 'releasedAt', 'parameters', 'contextLength'] as const;

/** Clients that each wait for their answer, or requests that arrive per second. */
export const ModelLoad = z.union([
  z.object({ clients: z.int().min(1).max(4096) }),
  z.object({ perSecond: z.number().positive().max(10_000) }),
]);

const Seconds = z.number().positive().max(3600);
const Tokens = z.int().min(1).max(10_000_000);

/** A value with the range that four fifths of the held-out measurements had around their predictions. */
const Estimate = z.object({
  value: z.number(),
  low: z.number(),
  high: z.number(),
  /** 0.2 is −17 % to +20 %. */
  error: z.number(),
  /** Measurements that the range rests on. */
  n: z.int(),
});

/** Why a speed is not told. */
export const NOT_PREDICTED = [
  'does not fit',
  'no formula',
  'engine',
  'several servers',
  'not measured',
  'error too large',
  'overload',
] as const;
const Predicted = z.union([Estimate, z.enum(NOT_PREDICTED)]);

const Memory = z.object({
  fits: z.boolean(),
  /** Why not. */
  reason: z.enum(['weights', 'cache', 'context', 'heads', 'unknown']).nullable(),
  /** Bytes on one GPU. */
  parts: z.object({
    weights: z.number(),
    cache: z.number(),
    activations: z.number(),
    runtime: z.number(),
    total: z.number(),
    /** What the engine may use. */
    budget: z.number(),
  }),
  /** Sequences of this context that fit at once. */
  sequences: z.number(),
  isUpperBound: z.boolean(),
});

const Prediction = z.object({
  memory: Memory,
  /** In seconds. */
  ttft: Predicted,
  /** In seconds: between two tokens of an answer. */
  tpot: Predicted,
  /** Output tokens per second of all GPUs. */
  rate: Predicted,
});

export const RankedOffer = z.object({
  offer: Offer,
  gpu: z.object({ id: z.string(), name: z.string() }),
  /** GPUs of it that the model uses. */
  used: z.int(),
  prediction: Prediction,
  /** STAGI per million output tokens; null where the rate is not told. */
  cost: Money.nullable(),
  /** Whether it meets the latency goal; null: not known. */
  meetsGoal: z.boolean().nullable(),
});
export type RankedOffer = z.infer<typeof RankedOffer>;

/** Most offers that one answer ranks. */
export const RANKED_MAX = 100;

const ModelFit = z.object({
  model: z.string(),
  file: ModelFile,
  engine: EngineName,
  /** On the GPU that was asked for. */
  onGpu: z.object({ id: z.string(), name: z.string(), count: z.int(), prediction: Prediction }).nullable(),
  /** The first of all offers with a GPU: those that meet the goal by cost, then those of unknown speed by price, … */
  offers: z.array(RankedOffer),
  /** The cheapest offer of each number of each GPU, whether the model fits it or not. */
  cheapest: z.array(z.object({ gpu: GpuId, count: z.int(), offer: Offer })),
  /** How many offers have a GPU, how many of them fit, and how many have a GPU that the catalogue does not know. */
  counts: z.object({ all: z.int(), fitting: z.int(), unknown: z.int() }),
});
export type ModelFit = z.infer<typeof ModelFit>;

const Counted = z.object({ value: z.string(), count: z.int() });

export const models = {
  list: call({
    path: 'model/list',
    summary: 'Models of the catalogue.',
    auth: 'public',
    input: z.object({
      filters: ModelFilters.prefault({}),
      entityFilterRequest: EntityFilterRequest.extend({
        orderByField: z.enum(MODEL_SORTS).default('releasedAt'),
        limit: z.number().int().min(1).max(100).default(24),
      }).prefault({}),
    }),
    output: listOf(ModelCard),
  }),
  facets: call({
    path: 'model/facets',
    summary: 'What the catalogue can be filtered by, with the number of models of each.',
    auth: 'public',
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      total: z.int(),
      tasks: z.array(z.object({ value: Task, count: z.int() })),
      publishers: z.array(Counted),
      licences: z.array(Counted),
      gpus: z.array(z.object({ id: z.string(), name: z.string(), memoryGb: z.number() })),
    }),
  }),
  view: call({
    path: 'model/view',
    summary: 'One model with its published files and the sources of its numbers.',
    auth: 'public',
    input: ModelRef,
    output: oneOf(Model),
  }),
  gpus: call({
    path: 'model/gpu/read',
    summary: 'GPUs of the catalogue with what the formulas compute with, and its sources.',
    auth: 'public',
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), entities: z.array(Gpu) }),
  }),
  fit: call({
    path: 'model/fit',
    summary:
      'Memory and predicted speed of a model on a GPU, and the offers of the marketplace ranked by the price of a million ' +
      'output tokens. Limited by address.',
    auth: 'public',
    input: z.object({
      modelRef: ModelRef,
      quality: Quality.default('original'),
      format: z.enum(['safetensors', 'gguf']).optional(),
      engine: EngineName.optional(),
      gpu: z.object({ id: GpuId, count: GpuCount.default(1) }).optional(),
      load: ModelLoad.default({ clients: 8 }),
      /** Tokens of a prompt and of its answer. */
      lengths: z.object({ input: Tokens, output: Tokens }).default({ input: 1024, output: 256 }),
      /** In seconds. */
      goal: z.object({ ttft: Seconds.optional(), tpot: Seconds.optional() }).default({}),
    }),
    output: oneOf(ModelFit).extend({ providers: z.array(ProviderState) }),
  }),
};
