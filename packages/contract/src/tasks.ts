import { z } from 'zod';
import { call } from './call.ts';
import { ContainerStatus, DockerImage, EnvVariable } from './containers.ts';
import { Slug } from './fields.ts';
import { Id, ListInput, listOf, oneOf, Ref, refOr, SuccessResponse } from './page.ts';
import { Price } from './price.ts';
import { Link, ObjectKey, StorageObject } from './storages.ts';
import {
  DEFAULT_CODE_PATH,
  TASK_MINUTES_MAX,
  TASK_RETRIES_MAX,
  TASK_VARIABLE_PREFIX,
  TaskPriority,
  TaskStatus,
} from './taskRules.ts';
import { text } from './text.ts';

const REQUIRED = {
  inputUrlPath: text('Input URL path is required'),
  inputPath: text('Input path is required'),
  outputPath: text('Output path is required'),
  codePath: text('Code path is required'),
  command: text('Launch command is required'),
  commit: text('Commit is required'),
};

/** A directory in the container. */
const directory = (required: string) =>
  z
    .string(required)
    .trim()
    .min(1, required)
    .max(400, text('Directory is too long: at most 400 characters'))
    .regex(/^\//, text('Volume path must start with /'))
    .refine((path) => !path.includes('\0') && !path.includes(':'), text('Volume path must not contain ":"'))
    .refine((path) => !path.split('/').includes('..'), text('Volume path must not contain ".."'));

const isRoot = (path: string): boolean => path.split('/').every((part) => part === '' || part === '.');

/** A variable of a task. Without a value: that of the task which it is cloned from. */
const TaskVariable = EnvVariable.partial({ value: true }).refine(({ name }) => !name.startsWith(TASK_VARIABLE_PREFIX), {
  path: ['name'],
  message: text('Names that begin with STAGI_ are set by the platform'),
});

/** What a task runs, and where. Shared by tasks and schedules. */
const fields = {
  projectRef: refOr(text('Project is required')),
  /** An attached server of the project. */
  instanceRef: refOr(text('Instance is required')),
  storageRef: refOr(text('Storage is required')),
  /** An object key of the storage, or a prefix of keys that ends in `/`. */
  inputUrlPath: z.union([z.string(REQUIRED.inputUrlPath).trim().min(1, REQUIRED.inputUrlPath).pipe(ObjectKey)]),
  /** Where the input is put: a single object keeps its name, a prefix is taken off. */
  inputPath: directory(REQUIRED.inputPath).refine(
    (path) => !isRoot(path),
    text('The root directory of the container cannot be replaced'),
  ),
  /** What is uploaded to `tasks/{id}/output/` of the storage after the end. */
  outputPath: directory(REQUIRED.outputPath).refine(
    (path) => !isRoot(path),
    text('The root directory of the container cannot be replaced'),
  ),
  /** Where the files of the commit are put, and the command is run. */
  codePath: directory(REQUIRED.codePath)
    .refine((path) => !isRoot(path), text('The root directory cannot be used for cloning'))
    .default(DEFAULT_CODE_PATH),
  /** One line for `/bin/sh -c`. */
  command: z
    .string(REQUIRED.command)
    .trim()
    .min(1, REQUIRED.command)
    .max(8_192, text('Command is too long: at most 8,192 characters'))
    .refine((command) => !command.includes('\0'), text('The command must not contain a NUL')),
  /** A commit, branch or tag; a schedule looks it up anew at each time. */
  commit: z
    .string(REQUIRED.commit)
    .trim()
    .min(1, REQUIRED.commit)
    .max(250, text('Commit is too long: at most 250 characters')),
  image: DockerImage,
  cpus: z
    .number(text('CPU is required'))
    .min(0.1, text('CPU must be at least 0.1'))
    .max(1024, text('CPU must be at most 1024'))
    .multipleOf(0.1, text('CPU must be a multiple of 0.1')),
  gpuCount: z
    .number(text('GPU is required'))
    .int(text('GPU must be a whole number'))
    .min(0, text('GPU must be a whole number'))
    .max(64, text('GPU must be at most 64')),
  env: z.array(TaskVariable).max(200, text('At most 200 variables')).default([]),
  /** From the start of a run until it is stopped; null: no limit. */
  timeLimitMinutes: z
    .number(text('Time limit must be a number'))
    .int(text('Time limit must be a whole number of minutes'))
    .min(1, text('Time limit must be at least 1 minute'))
    .max(TASK_MINUTES_MAX, text('Time limit must be at most 43,200 minutes'))
    .nullable()
    .default(null),
  /** After an end that was not the command's own. */
  retries: z
    .number(text('Retries must be a number'))
    .int(text('Retries must be between 0 and 5'))
    .min(0, text('Retries must be between 0 and 5'))
    .max(TASK_RETRIES_MAX, text('Retries must be between 0 and 5'))
    .default(0),
  /** Also after a non-zero exit code. */
  retryOnFailure: z.boolean().default(false),
  priority: TaskPriority.default('normal'),
  title: z.string().trim().max(100, text('Title is too long: at most 100 characters')).optional(),
  /** The task whose values variables without a value have. */
  cloneOf: Ref.optional(),
};

function checkTask(value: { env: { name: string }[] }, context: z.RefinementCtx): void {
  const names = value.env.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice >= 0)
    context.addIssue({ code: 'custom', path: ['env', twice, 'name'], message: text('This variable is listed twice') });
}

/** Left out: `task-` and its id. */
const TaskSlug = Slug.refine((slug) => !/^task-\d+$/.test(slug), text('A Unique ID like "task-1" is reserved'));

/** Strict: an unknown field is refused, instead of a task that runs without it. */
export const CreateTask = z.strictObject({ ...fields, slug: TaskSlug.optional() }).superRefine(checkTask);

const Cron = z
  .string(text('Time is required'))
  .trim()
  .min(1, text('Time is required'))
  .max(200, text('Enter five fields: minute, hour, day of the month, month, day of the week'));

const schedule = {
  title: z
    .string(text('Title is required'))
    .trim()
    .min(1, text('Title is required'))
    .max(100, text('Title is too long: at most 100 characters')),
  /** Five fields: minute, hour, day of the month, month, day of the week. At most once a minute. */
  cron: Cron,
  /** An IANA name, such as `Europe/Berlin`. */
  timeZone: z.string(text('Time zone is required')).trim().min(1, text('Time zone is required')).max(60),
};

export const CreateSchedule = z.strictObject({ ...fields, ...schedule }).superRefine(checkTask);

const Named = z.object({ id: Id, slug: z.string(), title: z.string() });

/** One attempt to run a task. */
export const TaskRun = z.object({
  /** From 1; `run-{number}` in addresses. */
  number: z.number().int(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  /** Why it ended as it did. */
  reason: z.string().nullable(),
  /** The server's price × its running time so far; for information. */
  cost: Price,
  gpuIds: z.array(z.number().int()),
  /** Null until it has a place on its server. */
  container: z.object({ id: Id, slug: z.string(), status: ContainerStatus }).nullable(),
  /** The current slow step: `pulling`, `preparing`, `saving`. */
  progress: z.object({ phase: z.string(), detail: z.string().nullable(), fraction: z.number().nullable() }).nullable(),
  output: z.object({
    phase: z.enum(['none', 'saving', 'saved', 'not saved']),
    files: z.number().int(),
    bytes: z.number(),
    /** Entries that are no files: symbolic links, sockets, devices. */
    skipped: z.number().int(),
    error: z.string().nullable(),
  }),
});
export type TaskRun = z.infer<typeof TaskRun>;

export const Task = z.object({
  id: Id,
  /** Counts the tasks of a project from 1. */
  ordinal: z.number().int(),
  slug: z.string(),
  title: z.string(),
  status: TaskStatus,
  statusReason: z.string().nullable(),
  statusSince: z.string(),
  /** When its container was last seen. */
  statusSeenAt: z.string().nullable(),
  /** When it is given up, or tried again. */
  statusDeadline: z.string().nullable(),
  project: Named,
  instance: Named.extend({ kind: z.enum(['rented', 'self-hosted']), status: z.string() }),
  storage: Named.extend({ status: z.string() }),
  inputUrlPath: z.string(),
  inputPath: z.string(),
  outputPath: z.string(),
  codePath: z.string(),
  command: z.string(),
  /** `ref`: the branch or tag that was asked for, if any. */
  commit: z.object({ sha: z.string(), message: z.string(), at: z.string().nullable(), ref: z.string().nullable() }),
  image: z.string(),
  cpus: z.number(),
  gpuCount: z.number().int(),
  /** Values are kept encrypted and not shown again. */
  envNames: z.array(z.string()),
  timeLimitMinutes: z.number().int().nullable(),
  retries: z.number().int(),
  retryOnFailure: z.boolean(),
  priority: TaskPriority,
  createdAt: z.string(),
  /** Null when the account was deleted. */
  createdBy: z.string().nullable(),
  /** Of the last run. */
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  /** Of all runs. */
  cost: Price,
  /** Of its server now; zero for an own one. */
  pricePerHour: Price,
  /** Its place in the queue of its server, from 1, while it waits for room. */
  position: z.number().int().nullable(),
  runCount: z.number().int(),
  favorite: z.boolean(),
  /** `s3://{bucket}/tasks/{id}/output/`. */
  outputUri: z.string(),
  schedule: z.object({ id: Id, title: z.string() }).nullable(),
});
export type Task = z.infer<typeof Task>;

export const TaskEvent = z.object({
  at: z.string(),
  status: TaskStatus,
  reason: z.string().nullable(),
  run: z.number().int().nullable(),
  /** Who did it; null: the platform. */
  by: z.string().nullable(),
});
export type TaskEvent = z.infer<typeof TaskEvent>;

export const TaskDetail = Task.extend({
  /** Newest first. */
  runs: z.array(TaskRun),
  /** Its changes of status, oldest first. */
  timeline: z.array(TaskEvent),
});
export type TaskDetail = z.infer<typeof TaskDetail>;

/** The fields of a task as its form shows them again. */
export const TaskFields = z.object({
  projectId: Id,
  instanceId: Id,
  storageId: Id,
  inputUrlPath: z.string(),
  inputPath: z.string(),
  outputPath: z.string(),
  codePath: z.string(),
  command: z.string(),
  commit: z.string(),
  image: z.string(),
  cpus: z.number(),
  gpuCount: z.number().int(),
  envNames: z.array(z.string()),
  timeLimitMinutes: z.number().int().nullable(),
  retries: z.number().int(),
  retryOnFailure: z.boolean(),
  priority: TaskPriority,
});
export type TaskFields = z.infer<typeof TaskFields>;

export const TaskSchedule = z.object({
  id: Id,
  title: z.string(),
  project: Named,
  cron: z.string(),
  timeZone: z.string(),
  isPaused: z.boolean(),
  /** Why the platform paused it; null: a person did. */
  pausedReason: z.string().nullable(),
  /** Null while it is paused. */
  nextAt: z.string().nullable(),
  lastAt: z.string().nullable(),
  /** What happened at the last time. */
  lastResult: z.enum(['started', 'skipped', 'failed']).nullable(),
  /** Why it was skipped or could not start. */
  lastReason: z.string().nullable(),
  lastTask: z.object({ id: Id, ordinal: z.number().int(), status: TaskStatus }).nullable(),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  task: TaskFields,
  instance: Named,
});
export type TaskSchedule = z.infer<typeof TaskSchedule>;

/** A server that tasks of a project can run on. */
export const TaskServer = z.object({
  id: Id,
  kind: z.enum(['rented', 'self-hosted']),
  slug: z.string(),
  title: z.string(),
  status: z.string(),
  /** Null until its daemon has said. */
  cpus: z.number().nullable(),
  gpus: z.array(z.object({ index: z.number().int(), name: z.string() })),
  freeCpus: z.number(),
  freeGpus: z.number().int(),
  /** Tasks that wait for room on it. */
  waiting: z.number().int(),
  pricePerHour: Price,
  /** Why it takes no tasks. */
  refusal: z.string().nullable(),
});
export type TaskServer = z.infer<typeof TaskServer>;

const RUN = ['RUNNING_TASKS'] as const;

export const tasks = {
  list: call({
    path: 'task/list',
    summary: 'Tasks of the workspace, of one project, of one server.',
    auth: RUN,
    byToken: true,
    input: ListInput.extend({
      projectRef: Ref.optional(),
      instanceRef: Ref.optional(),
      scheduleId: Id.optional(),
      favorites: z.boolean().default(false),
    }),
    output: listOf(Task),
  }),
  view: call({
    path: 'task/view',
    summary: 'One task, with its runs and its timeline.',
    auth: RUN,
    byToken: true,
    input: Ref,
    output: oneOf(TaskDetail),
  }),
  form: call({
    path: 'task/form',
    summary: 'What the form of a task offers: projects, servers, storages, and the values of the last task.',
    auth: RUN,
    byToken: true,
    input: z.object({
      /** Left out: that of the last task. */
      projectRef: Ref.optional(),
      /** A task to clone. */
      cloneOf: Ref.optional(),
    }),
    output: z.object({
      isSuccess: z.literal(true),
      projects: z.array(Named.extend({ defaultBranch: z.string(), isEmpty: z.boolean() })),
      projectId: Id.nullable(),
      instances: z.array(TaskServer),
      storages: z.array(Named.extend({ status: z.string(), readOnly: z.boolean() })),
      /** Of the task to clone, else of the caller's last task in this project, else of their last task. */
      values: TaskFields.nullable(),
      /** The task that has these values: `cloneOf` of a new task whose variables keep theirs. */
      valuesOf: z.object({ id: Id, ordinal: z.number().int(), title: z.string() }).nullable(),
      runsToday: z.object({ used: z.number().int(), limit: z.number().int().nullable() }),
    }),
  }),
  create: call({
    path: 'task/create',
    summary: 'Queues a task on an attached server.',
    auth: RUN,
    byToken: true,
    input: CreateTask,
    output: oneOf(TaskDetail),
  }),
  cancel: call({
    path: 'task/cancel',
    summary: 'Cancels a task. A running command is stopped, and what it has put out is still saved.',
    auth: RUN,
    byToken: true,
    input: Ref,
    output: oneOf(TaskDetail),
  }),
  rerun: call({
    path: 'task/rerun',
    summary: 'Queues a task with the same fields and the same commit.',
    auth: RUN,
    byToken: true,
    input: Ref,
    output: oneOf(TaskDetail),
  }),
  favorite: call({
    path: 'task/favorite',
    summary: 'Marks a task as a favourite of the caller, or takes the mark away.',
    auth: RUN,
    byToken: true,
    input: z.object({ id: Id, favorite: z.boolean() }),
    output: SuccessResponse,
  }),
  output: call({
    path: 'task/output/list',
    summary: 'One level of the files that a task has put out.',
    auth: RUN,
    byToken: true,
    input: z.object({
      id: Id,
      /** Relative to the output directory; a folder ends in `/`. */
      prefix: z.string().max(1_024).default(''),
      /** `next` of the page before. */
      after: z.string().max(2_000).optional(),
      limit: z.number().int().min(1).max(1_000).default(100),
    }),
    /** Keys and folders are relative to the output directory. */
    output: z.object({
      isSuccess: z.literal(true),
      folders: z.array(z.string()),
      objects: z.array(StorageObject),
      next: z.string().nullable(),
    }),
  }),
  outputLink: call({
    path: 'task/output/download-link',
    summary: 'A link to download one file that a task has put out, or `inline` to read its beginning.',
    auth: RUN,
    byToken: true,
    input: z.object({ id: Id, key: ObjectKey, inline: z.boolean().default(false) }),
    output: Link,
  }),
  outputPreview: call({
    path: 'task/output/preview-link',
    summary: 'A link to look at one file that a task has put out, on the address for content of others.',
    auth: RUN,
    byToken: true,
    input: z.object({ id: Id, key: ObjectKey }),
    output: Link,
  }),
  schedules: call({
    path: 'task/schedule/list',
    summary: 'Schedules of the workspace or of one project.',
    auth: RUN,
    byToken: true,
    input: ListInput.extend({ projectRef: Ref.optional() }),
    output: listOf(TaskSchedule),
  }),
  viewSchedule: call({
    path: 'task/schedule/view',
    summary: 'One schedule.',
    auth: RUN,
    byToken: true,
    input: z.object({ id: Id }),
    output: oneOf(TaskSchedule),
  }),
  createSchedule: call({
    path: 'task/schedule/create',
    summary: 'Starts a task at each time of a schedule.',
    auth: RUN,
    byToken: true,
    input: CreateSchedule,
    output: oneOf(TaskSchedule),
  }),
  editSchedule: call({
    path: 'task/schedule/edit',
    summary: 'Changes a schedule, pauses it, or lets it go on.',
    auth: RUN,
    byToken: true,
    input: z.strictObject({
      id: Id,
      title: schedule.title.optional(),
      cron: schedule.cron.optional(),
      timeZone: schedule.timeZone.optional(),
      isPaused: z.boolean().optional(),
      /** All fields anew. Variables without a value keep theirs. */
      task: z.strictObject(fields).superRefine(checkTask).optional(),
    }),
    output: oneOf(TaskSchedule),
  }),
  deleteSchedule: call({
    path: 'task/schedule/delete',
    summary: 'Deletes a schedule; its tasks stay.',
    auth: RUN,
    byToken: true,
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
};
