import { z } from 'zod';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

/** Rules about tasks that server and web app share. */

/** Where the files of a commit are put, and the command is run, unless the task says otherwise. */
export const DEFAULT_CODE_PATH = '/workspace';
export const TASK_RETRIES_MAX = 5;
/** 30 days. */
export const TASK_MINUTES_MAX = 43_200;
/** How long a task may be overtaken while it waits for more than is free. */
export const OVERTAKE_MINUTES = 10;
/** How long a running task that nobody sees stays running. */
export const UNSEEN_HOURS = 24;
/** How long a task of a self-hosted server is kept frozen at zero balance. */
export const FROZEN_DAYS = 14;
/** Variables that the platform sets begin with it. */
export const TASK_VARIABLE_PREFIX = 'STAGI_';

/** What tasks put out lies below it in their storages. */
export const TASKS_PREFIX = 'tasks/';
/** Where the output of a task lies in its storage. */
export const outputPrefix = (taskId: number): string => `${TASKS_PREFIX}${taskId}/output/`;

export const TaskStatus = z.enum([
  'new',
  'scheduled',
  'in queue',
  'running',
  'done',
  'failed',
  'canceling',
  'canceled',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** The allowed transitions of each status; the database refuses all others. */
export const TASK_MOVES: Record<TaskStatus, readonly TaskStatus[]> = {
  new: ['scheduled', 'in queue', 'running', 'failed', 'canceling', 'canceled'],
  scheduled: ['in queue', 'running', 'failed', 'canceling', 'canceled'],
  // `scheduled`: its server went away, or the balance ran out, before it started.
  'in queue': ['scheduled', 'running', 'done', 'failed', 'canceling', 'canceled'],
  // `scheduled`: it is tried again.
  running: ['scheduled', 'done', 'failed', 'canceling'],
  done: [],
  failed: [],
  canceling: ['canceled'],
  canceled: [],
};

export const TASK_ENDED: readonly TaskStatus[] = ['done', 'failed', 'canceled'];

export const TaskPriority = z.enum(['low', 'normal', 'high'], text('Please choose an option'));
export type TaskPriority = z.infer<typeof TaskPriority>;
/** A higher number goes first. */
export const PRIORITY_ORDER: Record<TaskPriority, number> = { low: 0, normal: 1, high: 2 };

/** The name of a run in addresses: `run-1`. */
export const runName = (number: number): string => `run-${number}`;

/** The number of a run by its name; null: this is no such name. */
export function runNumber(name: string): number | null {
  const digits = /^run-([1-9]\d{0,5})$/.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Which actions a task allows now, and why the others are disabled. Used by the server and the web app. */
export const taskCan = {
  cancel({ status }: { status: TaskStatus }): Verdict {
    if (status === 'canceling') return no(text('This task is already being canceled'));
    return TASK_ENDED.includes(status) ? no(text('This task has already ended')) : yes;
  },
  /** Running the same again, as a new task. */
  rerun({ status }: { status: TaskStatus }): Verdict {
    return TASK_ENDED.includes(status) ? yes : no(text('This task has not ended yet'));
  },
};
