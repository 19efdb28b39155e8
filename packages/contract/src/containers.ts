import { z } from 'zod';
import { call } from './call.ts';
import {
  CapabilitySet,
  ContainerHealth,
  CreateContainer,
  EditContainer,
  HealthCheck,
  Protection,
  RestartPolicy,
} from './containerFields.ts';
import { Id, ListInput, listOf, oneOf, Ref, SuccessResponse } from './page.ts';
import { PulledLayer } from './pulledLayer.ts';

export const ContainerStatus = z.enum([
  'creating',
  'creation failed',
  'starting',
  'running',
  'stopping',
  'stopped',
  'rebooting',
  'exited',
  'failed',
  'unresponsive',
  'terminating',
  'deleted',
]);
export type ContainerStatus = z.infer<typeof ContainerStatus>;

/** The allowed transitions of each status; the database refuses all others. */
export const CONTAINER_MOVES: Record<ContainerStatus, readonly ContainerStatus[]> = {
  creating: [
    'starting',
    'running',
    'exited',
    'failed',
    'creation failed',
    'unresponsive',
    'stopped',
    'terminating',
    'deleted',
  ],
  'creation failed': ['creating', 'terminating', 'deleted'],
  starting: ['running', 'exited', 'failed', 'stopping', 'stopped', 'unresponsive', 'terminating', 'deleted'],
  running: ['stopping', 'stopped', 'rebooting', 'exited', 'failed', 'unresponsive', 'terminating', 'deleted'],
  stopping: ['stopped', 'exited', 'failed', 'unresponsive', 'terminating', 'deleted'],
  stopped: ['starting', 'running', 'exited', 'failed', 'unresponsive', 'terminating', 'deleted'],
  rebooting: ['running', 'exited', 'failed', 'stopped', 'unresponsive', 'terminating', 'deleted'],
  exited: ['starting', 'running', 'failed', 'stopped', 'unresponsive', 'terminating', 'deleted'],
  failed: ['starting', 'running', 'exited', 'stopped', 'unresponsive', 'terminating', 'deleted'],
  unresponsive: [
    'creating',
    'starting',
    'running',
    'stopping',
    'stopped',
    'exited',
    'failed',
    'creation failed',
    'terminating',
    'deleted',
  ],
  terminating: ['deleted'],
  deleted: [],
};

const FailedStep = z.object({
  /** The step that failed: `pull`, `create`, `start`, … */
  phase: z.string(),
  cause: z.string(),
  /** How often it has failed so far. */
  attempts: z.number().int(),
  /** When the next attempt begins; null while it is under way, and when there will be none. */
  nextTryAt: z.string().nullable(),
  /** It is tried again when the credential of the registry has changed. */
  waitsFor: z.literal('credential').nullable(),
});

const StepProgress = z.object({
  phase: z.string(),
  detail: z.string().nullable(),
  fraction: z.number().nullable(),
  /** While an image is being pulled. */
  layers: z.array(PulledLayer).optional(),
});

/** A change of the specification that its server has not carried out yet. The container of before goes on meanwhile. */
const PendingEdit = z.object({
  since: z.string(),
  /** When it should be over; only a download that gains extends it. The server goes on trying. */
  deadline: z.string().nullable(),
  progress: StepProgress.nullable(),
  /** `final`: it is not tried again until it is edited again. */
  failedStep: FailedStep.extend({ final: z.boolean() }).nullable(),
});

/** Starts by its restart policy, since somebody started it. */
const Restarts = z.object({
  count: z.number().int(),
  /** It ended again and again, or did just now: it has not run for a minute since. */
  isLooping: z.boolean(),
  /** The end of the run before this one; null: not seen. */
  exitCode: z.number().int().nullable(),
  endedAt: z.string().nullable(),
  /** By when it is started again; null while it runs. */
  nextTryAt: z.string().nullable(),
});

export const Container = z.object({
  id: Id,
  slug: z.string(),
  title: z.string(),
  status: ContainerStatus,
  statusSince: z.string(),
  statusSeenAt: z.string().nullable(),
  statusDeadline: z.string().nullable(),
  statusReason: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  /** Null: its restart policy has not started it since somebody did, or it does not run. */
  restarts: Restarts.nullable(),
  /** The current phase while it is being created, such as `pulling`, and its fraction (0 … 1, null when unknown). */
  progress: StepProgress.nullable(),
  /** The step that failed since the status began: it is tried again until `statusDeadline`. Null when none has. */
  failedStep: FailedStep.nullable(),
  /** Null unless a change waits for the server. The other fields are those of the change. */
  pendingEdit: PendingEdit.nullable(),
  /** What its health check says; null without one and while it does not run. */
  health: ContainerHealth.nullable(),
  instance: z.object({
    id: Id,
    kind: z.enum(['rented', 'self-hosted']),
    slug: z.string(),
    title: z.string(),
    status: z.string(),
    ip: z.string().nullable(),
  }),
  /** The project that it belongs to. */
  project: z.object({ id: Id, slug: z.string(), title: z.string() }).nullable(),
  /** The task that it is a run of: only the task can be acted upon. */
  task: z.object({ id: Id, ordinal: z.number().int(), title: z.string(), run: z.number().int() }).nullable(),
  dockerImage: z.string(),
  command: z.string().nullable(),
  /** Values are kept encrypted and not shown again. */
  envNames: z.array(z.string()),
  /** Those of them whose values are masked in logs and never become part of a template. */
  secretEnvNames: z.array(z.string()),
  cpus: z.number(),
  memoryGb: z.number().nullable(),
  gpuIds: z.array(z.number().int()),
  portMappings: z.array(
    z.object({
      host: z.number().int(),
      container: z.number().int(),
      visibility: z.enum(['private', 'public']),
      /** How its server has bound it: other than `visibility` until the container is next recreated. Null: not known. */
      boundAs: z.enum(['private', 'public']).nullable(),
    }),
  ),
  /** Protections that it lacks until it is recreated, or until its server's agent is newer. Null: none that is known. */
  unprotected: z.object({ lacks: z.array(Protection), until: z.enum(['recreated', 'newer agent']) }).nullable(),
  directoryMappings: z.array(z.object({ host: z.string(), container: z.string() })),
  restartPolicy: RestartPolicy,
  /** Null: 1024. */
  shmMb: z.number().int().nullable(),
  healthCheck: HealthCheck.nullable(),
  /** In place of the image's own; null: that. */
  entrypoint: z.string().nullable(),
  /** Who its program runs as; null: the image's own. */
  user: z.string().nullable(),
  /** The rights of root in it. */
  capabilities: CapabilitySet,
  /** Seconds that its programs may take to end when it is stopped. */
  stopGraceSeconds: z.number().int(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  createdAt: z.string(),
  createdBy: z.string(),
  /** Why no terminal can be opened in it now; null: one can. */
  terminalRefusal: z.string().nullable(),
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
});
export type Container = z.infer<typeof Container>;

const READ = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT', 'PROJECT_MANAGEMENT'] as const;
const MANAGE = ['INSTANCE_RENTED_MANAGEMENT', 'SELFHOSTED_INSTANCE_MANAGEMENT'] as const;

export const containers = {
  list: call({
    path: 'docker-container/list',
    summary: 'Containers of the workspace, of one server, of one project.',
    auth: READ,
    byToken: true,
    input: ListInput.extend({ instanceRef: Ref.optional(), projectRef: Ref.optional() }),
    output: listOf(Container),
  }),
  view: call({
    path: 'docker-container/view',
    summary: 'One container.',
    auth: READ,
    byToken: true,
    input: Ref,
    output: oneOf(Container),
  }),
  create: call({
    path: 'docker-container/create',
    summary: 'Creates a container on an online server and starts it. With count N, N of them; the first is answered.',
    auth: MANAGE,
    byToken: true,
    input: CreateContainer,
    output: oneOf(Container).extend({ entities: z.array(Container) }),
  }),
  edit: call({
    path: 'docker-container/edit',
    summary:
      'Changes a container. All but title, project and time to stop recreate it: Unique ID, volumes and logs stay, other files go. Its ' +
      'image is pulled first; until then, and if that fails, the container of before goes on.',
    auth: MANAGE,
    byToken: true,
    input: EditContainer,
    output: oneOf(Container),
  }),
  undoEdit: call({
    path: 'docker-container/undo-edit',
    summary: 'Takes back a change that its server has not carried out yet.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Container),
  }),
  start: call({
    path: 'docker-container/start',
    summary: 'Starts a stopped container.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Container),
  }),
  stop: call({
    path: 'docker-container/stop',
    summary:
      'Stops a container; its files are kept. Its programs get a stop signal, and are killed after `stopGraceSeconds`.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Container),
  }),
  restart: call({
    path: 'docker-container/restart',
    summary: 'Restarts a running container.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: oneOf(Container),
  }),
  delete: call({
    path: 'docker-container/delete',
    summary: 'Deletes a container with its files; volumes on the server stay.',
    auth: MANAGE,
    byToken: true,
    input: Ref,
    output: SuccessResponse,
  }),
};
