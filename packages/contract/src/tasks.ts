import { z } from 'zod';
import { call } from './call.ts';
import { ContainerStatus } from './containers.ts';
import { Slug } from './fields.ts';
import { Id, ListInput, listOf, Named, oneOf, Ref, SuccessResponse } from './page.ts';
import { Price } from './price.ts';
import { Link, ObjectKey, StorageObject } from './storages.ts';
import { checkTaskFields, TaskFields, taskFields } from './taskFields.ts';
import { TaskPriority, TaskStatus } from './taskRules.ts';
import { taskSchedules } from './taskSchedules.ts';
import { text } from './text.ts';

/** Left out: `task-` and its id. */
const TaskSlug = Slug.refine((slug) => !/^task-\d+$/.test(slug), text('A Unique ID like "task-1" is reserved'));

/** Strict: an unknown field is refused, instead of a task that runs without it. */
export const CreateTask = z.strictObject({ ...taskFields, slug: TaskSlug.optional() }).superRefine(checkTaskFields);

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
  /** Seconds that its programs may take to end when it is canceled, or at its time limit. */
  stopGraceSeconds: z.number().int(),
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
  /** Its agent is too old to give runs more than 10 s when they are stopped. */
  stopsInTenSeconds: z.boolean().optional(),
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
    summary:
      'Cancels a task. A running command gets SIGTERM and `stopGraceSeconds` to end; what it has put out is still saved.',
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
  outputZip: call({
    path: 'task/output/zip-link',
    summary: 'A link to download what a task has put out, or one folder of it, as one ZIP file: at most 100,000 files.',
    auth: RUN,
    byToken: true,
    /** Relative to the output directory; a folder ends in `/`. */
    input: z.object({ id: Id, prefix: z.string().max(1_024).default('') }),
    output: Link,
  }),
  ...taskSchedules,
};
