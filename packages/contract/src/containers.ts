import { z } from 'zod';
import { call } from './call.ts';
import { ContainerPort, HostPort, Slug, VolumePath } from './fields.ts';
import { Id, ListInput, listOf, oneOf, Ref, refOr, SuccessResponse } from './page.ts';
import { text } from './text.ts';

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
  'creation failed': ['terminating', 'deleted'],
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

export const RestartPolicy = z.enum(['no', 'on-failure', 'unless-stopped', 'always'], text('Please choose an option'));

export const PortMapping = z.strictObject({
  host: HostPort,
  container: ContainerPort,
  visibility: z.enum(['private', 'public']).default('private'),
});
export const DirectoryMapping = z.strictObject({ host: VolumePath, container: VolumePath });

/** One `NAME=value`. The value is never trimmed. */
export const EnvVariable = z.strictObject({
  name: z
    .string(text('Name is required'))
    .trim()
    .min(1, text('Name is required'))
    .max(200, text('Name is too long: at most 200 characters'))
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, text('Name may contain only letters, digits and underscores')),
  value: z
    .string()
    .max(32_768, text('Value is too long: at most 32,768 characters'))
    .refine((v) => !v.includes('\0'), text('Value must not contain a NUL')),
});

export const DockerImage = z
  .string(text('Image is required'))
  .trim()
  .min(1, text('Image is required'))
  .max(400, text('Image is too long: at most 400 characters'))
  .regex(
    /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/,
    text('Enter an image like name:tag or registry/name:tag'),
  );

/** Docker's own check of a container: whether this command, run by a shell in it, ends with 0. */
export const HealthCheck = z.strictObject({
  command: z
    .string(text('Command is required'))
    .trim()
    .min(1, text('Command is required'))
    .max(2_000, text('Command is too long: at most 2,000 characters'))
    .refine((line) => !line.includes('\0'), text('The command must not contain a NUL')),
  intervalSeconds: seconds(1, 3_600, 30),
  timeoutSeconds: seconds(1, 600, 30),
  /** Failures in a row until it is unhealthy. */
  retries: z
    .number(text('Retries must be a whole number from 1 to 20'))
    .int(text('Retries must be a whole number from 1 to 20'))
    .min(1, text('Retries must be a whole number from 1 to 20'))
    .max(20, text('Retries must be a whole number from 1 to 20'))
    .default(3),
  /** From its start on failures do not count for so long. */
  startPeriodSeconds: seconds(0, 3_600, 0),
});
export type HealthCheck = z.infer<typeof HealthCheck>;

export const ContainerHealth = z.enum(['starting', 'healthy', 'unhealthy']);
export type ContainerHealth = z.infer<typeof ContainerHealth>;

function seconds(least: number, most: number, usual: number) {
  const message = text('Enter whole seconds');
  return z.number(message).int(message).min(least, message).max(most, message).default(usual);
}

function firstDuplicate<T>(rows: readonly T[], key: (row: T) => unknown): number | null {
  const seen = new Set<unknown>();
  for (const [index, row] of rows.entries()) {
    const value = key(row);
    if (seen.has(value)) return index;
    seen.add(value);
  }
  return null;
}

/** A variable of a new container. Without a value: that of the container which the new one replaces. */
const NewVariable = EnvVariable.partial({ value: true });

/** Strict: a request for an unknown right is refused, instead of creating a container without it. */
export const CreateContainer = z
  .strictObject({
    /** The server it runs on, rented or own. */
    instanceRef: refOr(text('Instance is required')),
    /** A project that it belongs to: deleted together. */
    projectRef: Ref.optional(),
    title: z
      .string(text('Name is required'))
      .trim()
      .min(1, text('Name is required'))
      .max(100, text('Name is too long: at most 100 characters')),
    slug: Slug,
    dockerImage: DockerImage,
    /** One shell-like line, split on the server without any shell; empty: the image's own command. */
    command: z.string().max(8_192, text('Command is too long: at most 8,192 characters')).optional(),
    env: z.array(NewVariable).max(200, text('At most 200 variables')).default([]),
    cpus: z
      .number(text('CPU is required'))
      .min(0.1, text('CPU must be at least 0.1'))
      .max(1024, text('CPU must be at most 1024'))
      .multipleOf(0.1, text('CPU must be a multiple of 0.1')),
    memoryGb: z
      .number(text('Memory must be a number'))
      .min(0.05, text('Memory must be at least 0.05 GB'))
      .max(24_576, text('Memory is too large'))
      .optional(),
    /** Must be chosen on a server that has GPUs; `[]` is none. */
    gpuIds: z.array(z.number().int().min(0).max(63), text('GPU is required')).max(64).optional(),
    portMappings: z.array(PortMapping).max(100, text('At most 100 ports')).default([]),
    directoryMappings: z.array(DirectoryMapping).max(50, text('At most 50 volumes')).default([]),
    restartPolicy: RestartPolicy.default('no'),
    /** Makes `slug-1 … slug-N` when above 1. */
    count: z
      .number()
      .int()
      .min(1, text('Count must be at least 1'))
      .max(20, text('At most 20 containers at once'))
      .default(1),
    /** A container that is not created yet, or could not be: it is deleted in the same transaction. */
    replaces: Ref.optional(),
  })
  .superRefine((value, context) => {
    const twice = firstDuplicate(value.portMappings, (port) => port.host);
    if (twice !== null)
      context.addIssue({
        code: 'custom',
        path: ['portMappings', twice, 'host'],
        message: text('This host port is listed twice'),
      });
    const name = firstDuplicate(value.env, (variable) => variable.name);
    if (name !== null)
      context.addIssue({ code: 'custom', path: ['env', name, 'name'], message: text('This variable is listed twice') });
    const directory = firstDuplicate(value.directoryMappings, (mapping) => mapping.container);
    if (directory !== null)
      context.addIssue({
        code: 'custom',
        path: ['directoryMappings', directory, 'container'],
        message: text('This container directory is listed twice'),
      });
    if (value.count > 1 && value.portMappings.length > 0)
      context.addIssue({
        code: 'custom',
        path: ['count'],
        message: text('Several containers cannot share host ports: create them one by one'),
      });
  });

const FailedStep = z.object({
  /** The step that failed: `pull`, `create`, `start`, … */
  phase: z.string(),
  cause: z.string(),
  /** How often it has failed so far. */
  attempts: z.number().int(),
  /** When the next attempt begins; null while it is under way, and when there will be none. */
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
  /** The current phase while it is being created, such as `pulling`, and its fraction (0 … 1, null when unknown). */
  progress: z.object({ phase: z.string(), detail: z.string().nullable(), fraction: z.number().nullable() }).nullable(),
  /** The step that failed since the status began: it is tried again until `statusDeadline`. Null when none has. */
  failedStep: FailedStep.nullable(),
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
  directoryMappings: z.array(z.object({ host: z.string(), container: z.string() })),
  restartPolicy: RestartPolicy,
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  createdAt: z.string(),
  createdBy: z.string(),
  /** Why no terminal can be opened in it now; null: one can. */
  terminalRefusal: z.string().nullable(),
});
export type Container = z.infer<typeof Container>;

export const ServerImage = z.object({ reference: z.string(), sizeBytes: z.number(), createdAt: z.string().nullable() });

type Verdict = { allowed: true } | { allowed: false; reason: string };
const yes: Verdict = { allowed: true };
const no = (reason: string): Verdict => ({ allowed: false, reason });
const is = (container: { status: ContainerStatus }, ...statuses: ContainerStatus[]) =>
  statuses.includes(container.status);
type Actionable = { status: ContainerStatus; instance: { status: string }; task: object | null };
/** Its task decides what becomes of it. */
const OF_A_TASK = no(text('This container belongs to a task'));

/** Which actions a container allows now, and why the others are disabled. Used by the server and the web app. */
export const containerCan = {
  /** Whether a container can be created on this server. */
  create(server: { status: string }): Verdict {
    return server.status === 'online'
      ? yes
      : no(text('Containers can only be created for server instances that are online'));
  },
  start(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    return is(container, 'stopped', 'exited', 'failed') ? yes : no(text('Only a stopped container can be started'));
  },
  stop(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    return is(container, 'running', 'starting') ? yes : no(text('Only a running container can be stopped'));
  },
  restart(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    return is(container, 'running') ? yes : no(text('Only a running container can be restarted'));
  },
  /** Giving way to another container with a changed image. */
  replace(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    return is(container, 'creating', 'creation failed')
      ? yes
      : no(text('Only a container that is not created yet can be replaced'));
  },
  delete(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    return is(container, 'terminating', 'deleted') ? no(text('This container is already being deleted')) : yes;
  },
};

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
    summary: 'Stops a container; its files are kept.',
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
  images: call({
    path: 'docker-container/image/list',
    summary: 'Images that a server has already.',
    auth: MANAGE,
    byToken: true,
    input: z.object({ instanceRef: Ref }),
    output: z.object({ isSuccess: z.literal(true), entities: z.array(ServerImage), seenAt: z.string().nullable() }),
  }),
};
