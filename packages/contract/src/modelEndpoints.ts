import { z } from 'zod';
import { call } from './call.ts';
import { CreateContainer } from './containerFields.ts';
import { ContainerStatus } from './containers.ts';
import { ENGINE_TEMPLATE_NAMES } from './engineTemplates.ts';
import { HostPort, Slug, Title } from './fields.ts';
import { ModelRef, Quality } from './models.ts';
import { Id, ListInput, listOf, oneOf, Ref, SuccessResponse } from './page.ts';
import { text } from './text.ts';

/** A server that is rented for an endpoint must be online by then, and an engine must answer by then. */
export const SERVER_WITHIN_MINUTES = 30;
export const ANSWER_WITHIN_MINUTES = 120;

const EngineTemplateName = z.enum(ENGINE_TEMPLATE_NAMES, text('Please choose an engine'));

export const ENDPOINT_STATUSES = [
  'waiting for server',
  'creating',
  'loading',
  'ready',
  'not answering',
  'stopped',
  'failed',
] as const;

/** A model that an engine serves in a container of the workspace. */
export const ModelEndpoint = z.object({
  id: Id,
  /** As the catalogue called it when it was deployed. */
  model: z.object({ id: z.string(), title: z.string(), name: z.string() }),
  quality: Quality,
  precision: z.string(),
  repository: z.string(),
  variant: z.string().nullable(),
  engine: EngineTemplateName,
  gpuCount: z.int(),
  /** In tokens; null: the engine's default. */
  context: z.int().nullable(),
  instance: z.object({
    id: Id,
    kind: z.enum(['rented', 'self-hosted']),
    slug: z.string(),
    title: z.string(),
    status: z.string(),
    /** Its first GPU, as its daemon calls it; null: none, or not known yet. */
    gpu: z.object({ name: z.string(), memoryGb: z.number() }).nullable(),
  }),
  /** Null until it has been created. */
  container: z
    .object({
      id: Id,
      slug: z.string(),
      title: z.string(),
      status: ContainerStatus,
      progress: z.object({ phase: z.string(), fraction: z.number().nullable() }).nullable(),
    })
    .nullable(),
  /** On the host. */
  port: z.int(),
  /** Who may open it; null until its container has been created. */
  visibility: z.enum(['private', 'public']).nullable(),
  status: z.enum(ENDPOINT_STATUSES),
  /** Why it is so, where that is not evident. */
  reason: z.string().nullable(),
  /** The last line of its log when its engine ended by itself; null while it has not, or printed nothing. */
  lastLine: z.string().nullable(),
  since: z.string(),
  /** By when a server is to be online, or an engine to answer. */
  deadline: z.string().nullable(),
  /** When it was last asked, and when it last answered. */
  checkedAt: z.string().nullable(),
  answeredAt: z.string().nullable(),
  /** What the engine calls its model in requests. */
  modelName: z.string(),
  /** Its API asks for a key, which the platform keeps. */
  hasKey: z.boolean(),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
});
export type ModelEndpoint = z.infer<typeof ModelEndpoint>;
export type EndpointStatus = ModelEndpoint['status'];

const Container = CreateContainer.shape;

/** A server of the offer is rented for it. */
const RentFor = z.strictObject({
  offerId: z.string().trim().min(1).max(200),
  title: Title,
  slug: Slug,
  sshKeyId: Id,
  maxPricePerHour: z.string().max(30).optional(),
});

const SECRET = z
  .string()
  .trim()
  .max(500, text('Token is too long: at most 500 characters'))
  .regex(/^[\x21-\x7e]*$/, text('Token may contain only printable characters without spaces'));

export const DeployModel = z
  .strictObject({
    modelRef: ModelRef,
    quality: Quality,
    /** Of several GGUF files of this quality. */
    variant: z.string().max(60).optional(),
    template: EngineTemplateName,
    instanceRef: Ref.optional(),
    rent: RentFor.optional(),
    title: Title,
    slug: Slug,
    /** Those of the template if left out. */
    dockerImage: Container.dockerImage.optional(),
    command: Container.command,
    cpus: Container.cpus,
    memoryGb: Container.memoryGb,
    /** As few GPUs of the server as the model fits on if left out. */
    gpuCount: z.int().min(0).max(8).optional(),
    port: HostPort,
    visibility: z.enum(['private', 'public']).default('private'),
    context: z
      .int(text('Context must be a whole number'))
      .min(256, text('Context must be at least 256 tokens'))
      .max(10_000_000, text('Context is too large'))
      .optional(),
    /** Of the hub, for weights behind a licence. Kept encrypted, never shown again. */
    token: SECRET.optional(),
    /** The model is larger than what its server has, or the server's GPU is unknown: it is tried anyway. */
    evenIfItDoesNotFit: z.boolean().default(false),
  })
  .superRefine(({ instanceRef, rent }, context) => {
    if (!instanceRef === !rent)
      context.addIssue({ code: 'custom', path: ['instanceRef'], message: text('Server is required') });
  });

const Message = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string().min(1, text('Message is required')).max(100_000, text('Message is too long')),
});

export const RUN_MAX_TOKENS = 8192;

/** A line of the answer of `model/run`: JSON, then a line break. */
export const RunEvent = z.discriminatedUnion('type', [
  /** Some text of the answer; `reasoning` where the engine tells it apart. */
  z.object({ type: z.literal('text'), text: z.string(), reasoning: z.literal(true).optional() }),
  /** The end of a whole answer. Counts are those of the engine; null where it does not say. */
  z.object({
    type: z.literal('end'),
    reason: z.string().nullable(),
    promptTokens: z.int().nullable(),
    answerTokens: z.int().nullable(),
  }),
  /** The answer broke off. */
  z.object({ type: z.literal('error'), message: z.string() }),
]);
export type RunEvent = z.infer<typeof RunEvent>;

const READ = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'] as const;
const MANAGE = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;
const EndpointRef = z.object({ endpointRef: z.object({ id: Id }) });

export const modelEndpoints = {
  deploy: call({
    path: 'model/deploy',
    summary:
      'Makes a container with an engine that serves a model, on a server of the workspace or on one that is rented for it.',
    auth: MANAGE,
    byToken: true,
    input: DeployModel,
    output: oneOf(ModelEndpoint),
  }),
  list: call({
    path: 'model/endpoint/list',
    summary: 'Models that are served in containers of the workspace, newest first.',
    auth: READ,
    byToken: true,
    input: ListInput.extend({ modelRef: ModelRef.optional() }),
    output: listOf(ModelEndpoint),
  }),
  view: call({
    path: 'model/endpoint/view',
    summary: 'One served model.',
    auth: READ,
    byToken: true,
    input: z.object({ id: Id }),
    output: oneOf(ModelEndpoint),
  }),
  check: call({
    path: 'model/endpoint/check',
    summary: 'Asks the engine through the link of its server whether it serves, and writes down what it answers.',
    auth: READ,
    byToken: true,
    input: z.object({ id: Id }),
    output: oneOf(ModelEndpoint),
  }),
  delete: call({
    path: 'model/endpoint/delete',
    summary: 'Deletes a served model with its container. Its server stays.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
  revealKey: call({
    path: 'model/endpoint/reveal-key',
    summary: 'The key that the API of a served model asks for.',
    auth: MANAGE,
    input: z.object({ id: Id }),
    output: z.object({ isSuccess: z.literal(true), key: z.string() }),
  }),
  run: call({
    path: 'model/run',
    summary:
      'Asks a served model, through the link of its server. The answer is streamed: one `RunEvent` a line, as JSON.',
    auth: READ,
    byToken: true,
    streamed: 'application/x-ndjson',
    input: EndpointRef.extend({
      messages: z.array(Message).min(1, text('Message is required')).max(200),
      maxTokens: z.int().min(1).max(RUN_MAX_TOKENS).default(512),
      temperature: z.number().min(0).max(2).optional(),
    }),
    output: RunEvent,
  }),
};
