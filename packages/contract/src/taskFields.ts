import { z } from 'zod';
import { DockerImage, EnvVariable, STOP_GRACE, StopGrace } from './containerFields.ts';
import { OptionalTitle } from './fields.ts';
import { Id, Ref, refOr } from './page.ts';
import { ObjectKey } from './storages.ts';
import {
  DEFAULT_CODE_PATH,
  TASK_MINUTES_MAX,
  TASK_RETRIES_MAX,
  TASK_VARIABLE_PREFIX,
  TaskPriority,
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
    .refine((path) => !path.includes('\0'), text('Volume path must not contain a NUL'))
    .refine((path) => !path.split('/').includes('..'), text('Volume path must not contain ".."'));

const isRoot = (path: string): boolean => path.split('/').every((part) => part === '' || part === '.');

/** A variable of a task. Without a value: that of the task which it is cloned from. */
const TaskVariable = EnvVariable.partial({ value: true }).refine(({ name }) => !name.startsWith(TASK_VARIABLE_PREFIX), {
  path: ['name'],
  message: text('Names that begin with STAGI_ are set by the platform'),
});

/** What a task runs, and where: the input of tasks and of schedules. */
export const taskFields = {
  projectRef: refOr(text('Project is required')),
  /** An attached server of the project. */
  instanceRef: refOr(text('Server is required')),
  storageRef: refOr(text('Storage is required')),
  /** An object key of the storage, or a prefix of keys that ends in `/`. */
  inputUrlPath: z.string(REQUIRED.inputUrlPath).trim().min(1, REQUIRED.inputUrlPath).pipe(ObjectKey),
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
  /** Seconds from a cancel, or the time limit, until what still runs is killed. */
  stopGraceSeconds: StopGrace.default(STOP_GRACE.usual),
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
  title: OptionalTitle.optional(),
  /** The task whose values variables without a value have. */
  cloneOf: Ref.optional(),
};

/** What concerns several fields. */
export function checkTaskFields(value: { env: { name: string }[] }, context: z.RefinementCtx): void {
  const names = value.env.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice >= 0)
    context.addIssue({ code: 'custom', path: ['env', twice, 'name'], message: text('This variable is listed twice') });
}

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
  /** Left out of schedules that were stored before it was known: 30. */
  stopGraceSeconds: z.number().int().optional(),
  retries: z.number().int(),
  retryOnFailure: z.boolean(),
  priority: TaskPriority,
});
export type TaskFields = z.infer<typeof TaskFields>;
