import { STOP_GRACE } from '@stagi/contract/containerFields.ts';
import type { TaskFields } from '@stagi/contract/taskFields.ts';
import { DEFAULT_CODE_PATH, type TaskPriority } from '@stagi/contract/taskRules.ts';
import { type EnvRow, newEnvRow } from '../../../launchForm/envRow.ts';
import { cronOf, NIGHTLY, type Timing } from '../schedules/cron.ts';

/** The values of the form. An empty number field holds a text; an id is a text, empty until one is chosen. */
export interface Values extends Timing {
  projectRef: string;
  commit: string;
  image: string;
  command: string;
  codePath: string;
  instanceRef: string;
  cpus: number | string;
  gpuCount: number | string;
  storageRef: string;
  inputUrlPath: string;
  inputPath: string;
  outputPath: string;
  env: EnvRow[];
  title: string;
  timeLimitMinutes: number | string;
  stopGraceSeconds: number | string;
  retries: number | string;
  retryOnFailure: boolean;
  priority: TaskPriority;
  timeZone: string;
}

const FIRST: Omit<Values, 'timeZone'> = {
  ...NIGHTLY,
  projectRef: '',
  commit: '',
  image: '',
  command: '',
  codePath: DEFAULT_CODE_PATH,
  instanceRef: '',
  cpus: 1,
  gpuCount: 0,
  storageRef: '',
  inputUrlPath: '',
  inputPath: '/input',
  outputPath: '/output',
  env: [],
  title: '',
  timeLimitMinutes: '',
  stopGraceSeconds: STOP_GRACE.usual,
  retries: 0,
  retryOnFailure: false,
  priority: 'normal',
};

/** What a project offers, of which some may be gone since the values were used. */
export interface Offered {
  projectId: number | null;
  projects: readonly { id: number; defaultBranch: string }[];
  instances: readonly { id: number; refusal: string | null }[];
  storages: readonly { id: number; readOnly: boolean }[];
}

/** The form's first values: those of another task or schedule, as far as they are offered. */
export function initialValues(offered: Offered, from: TaskFields | null, timeZone: string): Values {
  const { projectId } = offered;
  const values = { ...FIRST, timeZone, ...(from && fieldsOf(from)) };
  const branch = offered.projects.find(({ id }) => id === projectId)?.defaultBranch ?? '';
  return {
    ...values,
    projectRef: projectId === null ? '' : String(projectId),
    commit: from?.projectId === projectId ? values.commit : branch,
    instanceRef: offeredId(
      offered.instances,
      values.instanceRef,
      offered.instances.filter(({ refusal }) => refusal === null),
    ),
    storageRef: offeredId(
      offered.storages,
      values.storageRef,
      offered.storages.filter(({ readOnly }) => !readOnly),
    ),
  };
}

/** The wanted one while it is there, else the only one that can be chosen. */
function offeredId(all: readonly { id: number }[], wanted: string, usable: readonly { id: number }[]): string {
  if (all.some(({ id }) => String(id) === wanted)) return wanted;
  return usable.length === 1 && usable[0] ? String(usable[0].id) : '';
}

function fieldsOf(fields: TaskFields) {
  const { projectId, instanceId, storageId, envNames, timeLimitMinutes, stopGraceSeconds, ...same } = fields;
  return {
    ...same,
    instanceRef: String(instanceId),
    storageRef: String(storageId),
    env: envNames.map((name) => ({ ...newEnvRow(name), kept: true })),
    timeLimitMinutes: timeLimitMinutes ?? '',
    stopGraceSeconds: stopGraceSeconds ?? STOP_GRACE.usual,
  };
}

/** What a task runs, as its calls take it. Empty fields are left out, so that the contract reports them as missing. */
export function taskInput(values: Values): Record<string, unknown> {
  return {
    projectRef: refOf(values.projectRef),
    instanceRef: refOf(values.instanceRef),
    storageRef: refOf(values.storageRef),
    inputUrlPath: values.inputUrlPath,
    inputPath: values.inputPath,
    outputPath: values.outputPath,
    codePath: values.codePath,
    command: values.command,
    commit: values.commit,
    image: values.image,
    cpus: numberOf(values.cpus),
    gpuCount: numberOf(values.gpuCount),
    env: values.env.map(({ name, value, kept }) => ({ name, value: kept && value === '' ? undefined : value })),
    timeLimitMinutes: numberOf(values.timeLimitMinutes) ?? null,
    stopGraceSeconds: numberOf(values.stopGraceSeconds),
    retries: numberOf(values.retries) ?? 0,
    retryOnFailure: values.retryOnFailure,
    priority: values.priority,
  };
}

/** When a schedule starts its task. */
export function scheduleInput(values: Values): Record<string, unknown> {
  return { title: values.title, cron: cronOf(values) ?? undefined, timeZone: values.timeZone };
}

/** Whether a variable has the value of the task or schedule that the form was filled in from. */
export const keepsValues = ({ env }: Values): boolean => env.some(({ kept, value }) => kept === true && value === '');

const refOf = (id: string): { id: number } | undefined => (id === '' ? undefined : { id: Number(id) });

const numberOf = (value: number | string): number | undefined => (value === '' ? undefined : Number(value));
