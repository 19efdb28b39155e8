import { projectCan } from '@stagi/contract/projectRules.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { runOfTaskToken } from '../containers/taskToken.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { conflict, PublicError } from '../http/errors.ts';
import { openS3Key } from '../objects/keys.ts';
import { type ProjectView, viewProject } from '../projects/find.ts';
import { actionable } from '../projects/present.ts';
import { type StorageView, viewStorage } from '../storages/find.ts';

/** A run that has a place and has not ended. */
export interface OpenRun {
  id: number;
  task_id: number;
  workspace_id: number;
  project_id: number;
  storage_id: number;
  instance_id: number;
  commit_sha: string;
  input_url_path: string;
}

/** The run that a request is for, by what is true now. Throws 401 and 410 as the contract says. */
export async function openRun(
  ctx: Pick<Context, 'db' | 'secrets'>,
  authorization: string | undefined,
): Promise<OpenRun> {
  const token = /^bearer (\S{1,200})$/i.exec(authorization ?? '')?.[1];
  const id = token === undefined ? null : runOfTaskToken(ctx, token);
  if (id === null) throw new PublicError(401, text('This is not the token of a run'));
  const run = await findOpenRun(ctx.db, id);
  if (!run) throw ended();
  return run;
}

export const isRunOpen = async (db: Db, id: number): Promise<boolean> => (await findOpenRun(db, id)) !== undefined;

const ended = (): PublicError => new PublicError(410, text('This run has ended'));

/** The same conditions end its keys: `KEY_WORKS`. */
function findOpenRun(db: Db, id: number): Promise<OpenRun | undefined> {
  return db
    .selectFrom('task_run')
    .innerJoin('task', 'task.id', 'task_run.task_id')
    .innerJoin('container', 'container.id', 'task_run.container_id')
    .innerJoin('workspace', 'workspace.id', 'task.workspace_id')
    .select(['task_run.id', 'task_run.task_id', 'task.workspace_id', 'task.project_id', 'task.storage_id'])
    .select(['task.commit_sha', 'task.input_url_path', 'container.instance_id'])
    .where('task_run.id', '=', id)
    .where('task_run.ended_at', 'is', null)
    .where('container.deleted_at', 'is', null)
    .where('container.desired', '<>', 'absent')
    .where('workspace.disabled_at', 'is', null)
    .where('workspace.deleted_at', 'is', null)
    .executeTakeFirst();
}

export async function projectOf({ db }: Pick<Context, 'db'>, run: OpenRun): Promise<ProjectView> {
  const project = await viewProject(db, run.workspace_id, { id: run.project_id });
  const verdict = projectCan.read(actionable(project));
  if (!verdict.allowed) throw new PublicError(410, verdict.reason);
  return project;
}

/** The storage of a run, if it can be read or written now; else throws 409 or 410. */
export async function storageOf(
  { db }: Pick<Context, 'db'>,
  run: OpenRun,
  wants: 'read' | 'write',
): Promise<StorageView & { bucket_id: number; bucket: string }> {
  const storage = await viewStorage(db, run.workspace_id, { id: run.storage_id });
  const { bucket_id, bucket } = storage;
  if (storage.desired === 'gone' || storage.closed_at !== null || bucket_id === null || bucket === null)
    throw new PublicError(410, text('Its storage was deleted'));
  const verdict = storageCan[wants]({ ...storage, readOnly: storage.read_only });
  if (!verdict.allowed) throw conflict(verdict.reason);
  return { ...storage, bucket_id, bucket };
}

/** What links of a run are signed with. */
export async function keyOf(
  ctx: Pick<Context, 'db' | 'secrets'>,
  run: OpenRun,
  use: 'input' | 'output',
): Promise<{ accessKeyId: string; secretAccessKey: string }> {
  const row = await ctx.db
    .selectFrom('task_run')
    .innerJoin('s3_key', 's3_key.id', `task_run.${use}_key_id`)
    .select(['access_key_id', 'secret_sealed'])
    .where('task_run.id', '=', run.id)
    .executeTakeFirst();
  // Its keys are removed with its end.
  if (!row) throw ended();
  return openS3Key(ctx, row);
}
