import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { Context } from '../context.ts';
import type { TaskRow, TaskScheduleRow } from '../db/schema.ts';

export type Env = DesiredContainer['spec']['env'];

/** Bound to the place in its project: the id is not known yet when it is sealed. */
type TaskPlace = Pick<TaskRow, 'project_id' | 'ordinal'>;
const placeOf = ({ project_id, ordinal }: TaskPlace): string => `task|env|${project_id}|${ordinal}`;

export function sealTaskEnv(ctx: Pick<Context, 'secrets'>, place: TaskPlace, env: Env): string {
  return ctx.secrets.seal(JSON.stringify(env), placeOf(place));
}

export function openTaskEnv(ctx: Pick<Context, 'secrets'>, row: TaskPlace & Pick<TaskRow, 'env_sealed'>): Env {
  return JSON.parse(ctx.secrets.open(row.env_sealed, placeOf(row))) as Env;
}

const placeOfSchedule = (id: number): string => `task_schedule|env|${id}`;

export function sealScheduleEnv(ctx: Pick<Context, 'secrets'>, id: number, env: Env): string {
  return ctx.secrets.seal(JSON.stringify(env), placeOfSchedule(id));
}

export function openScheduleEnv(ctx: Pick<Context, 'secrets'>, row: Pick<TaskScheduleRow, 'id' | 'env_sealed'>): Env {
  return JSON.parse(ctx.secrets.open(row.env_sealed, placeOfSchedule(row.id))) as Env;
}
