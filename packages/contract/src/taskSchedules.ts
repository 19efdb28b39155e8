import { z } from 'zod';
import { call } from './call.ts';
import { Title } from './fields.ts';
import { EditVersion, Id, ListInput, listOf, Named, oneOf, Ref, SuccessResponse } from './page.ts';
import { checkTaskFields, TaskFields, taskFields } from './taskFields.ts';
import { TaskStatus } from './taskRules.ts';
import { text } from './text.ts';

const Cron = z
  .string(text('Time is required'))
  .trim()
  .min(1, text('Time is required'))
  .max(200, text('Enter five fields: minute, hour, day of the month, month, day of the week'));

const timetable = {
  title: Title,
  /** Five fields: minute, hour, day of the month, month, day of the week. At most once a minute. */
  cron: Cron,
  /** An IANA name, such as `Europe/Berlin`. */
  timeZone: z.string(text('Time zone is required')).trim().min(1, text('Time zone is required')).max(60),
};

export const CreateSchedule = z.strictObject({ ...taskFields, ...timetable }).superRefine(checkTaskFields);

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
  /** Changes with each edit: see `EditVersion`. */
  version: z.string().optional(),
});
export type TaskSchedule = z.infer<typeof TaskSchedule>;

const RUN = ['RUNNING_TASKS'] as const;

/** Part of `api.tasks`. */
export const taskSchedules = {
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
      title: timetable.title.optional(),
      cron: timetable.cron.optional(),
      timeZone: timetable.timeZone.optional(),
      isPaused: z.boolean().optional(),
      version: EditVersion.optional(),
      /** All fields anew. Variables without a value keep theirs. */
      task: z.strictObject(taskFields).superRefine(checkTaskFields).optional(),
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
