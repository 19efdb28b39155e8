import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { IMPORT_MOVES, projectCan } from '@stagi/contract/projectRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, ProjectImportRow } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { recordProjectActivity } from './activity.ts';
import { lockProject } from './find.ts';
import { actionable } from './present.ts';
import { columnsOf } from './recordState.ts';
import type { RepositoryState } from './repositoryState.ts';
import { announceProject, announceProjectOf } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** An import that has not ended after so long is given up. */
const DEADLINE_HOURS = 2;

/** Begins an import into an empty project; the worker runs it. */
export async function startImport(ctx: Caller, { id, url }: ParsedInputOf<typeof api.projects.import>): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const project = await lockProject(trx, ctx.workspace.id, { id });
    const verdict = projectCan.import(actionable(project));
    if (!verdict.allowed) throw refused(verdict.reason);
    await queueImport(trx, project, url, ctx.user.id);
    await announceProject(trx, project);
  });
}

/** Stores an import and wakes its worker. The caller has locked or just made the project. */
export async function queueImport(trx: Db, project: { id: number }, url: string, askedBy: number): Promise<void> {
  await trx
    .insertInto('project_import')
    .values({
      project_id: project.id,
      url,
      asked_by: askedBy,
      status: 'queued',
      deadline: sql<Date>`clock_timestamp() + ${`${DEADLINE_HOURS} hours`}::interval`,
      next_at: sql<Date>`clock_timestamp()`,
    })
    .execute();
  await recordProjectActivity(trx, project.id, { kind: 'import started', actorId: askedBy, detail: { url } });
  await announce(trx, 'due', { kind: 'project_import' });
}

export async function cancelImport(
  ctx: Caller,
  { id }: ParsedInputOf<typeof api.projects.cancelImport>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const project = await lockProject(trx, ctx.workspace.id, { id });
    const verdict = projectCan.cancelImport(actionable(project));
    if (!verdict.allowed) throw refused(verdict.reason);
    await endOpenImport(ctx, trx, project, text('Canceled'));
    await announceProject(trx, project);
  });
}

/** Fails the import of a locked project that has not ended; its worker stops within seconds. */
export async function endOpenImport(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  project: { id: number },
  error: string,
): Promise<void> {
  const open = await trx
    .selectFrom('project_import')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('status', 'in', ['queued', 'running'])
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (open) await failImport(ctx, trx, open, error);
}

export interface ImportProgress {
  /** What is done now: `receiving`, `resolving`, … */
  phase: string;
  /** 0 … 1; null when unknown. */
  fraction: number | null;
  receivedBytes: number;
}

const PHASE_MAX = 40;
const ERROR_MAX = 500;

/** Stores how far an import is. Returns false when it no longer runs: it was canceled, or its project is deleted. */
export async function progressImport(
  ctx: Pick<Context, 'db'>,
  importId: number,
  { phase, fraction, receivedBytes }: ImportProgress,
): Promise<boolean> {
  return inTransaction(ctx.db, async (trx) => {
    const row = await trx
      .updateTable('project_import')
      .set({
        phase: phase.slice(0, PHASE_MAX),
        fraction: fraction === null ? null : Math.min(1, Math.max(0, fraction)),
        received_bytes: BigInt(receivedBytes),
      })
      .where('id', '=', importId)
      .where('status', '=', 'running')
      .returning('project_id')
      .executeTakeFirst();
    if (!row) return false;
    await announceProjectOf(trx, row.project_id);
    return true;
  });
}

export type ImportedRepository = RepositoryState & { defaultBranch: string };

/** Ends an import: with what its project now holds, or with the reason why it failed. */
export async function finishImport(
  ctx: Pick<Context, 'db' | 'log'>,
  importId: number,
  outcome: ImportedRepository | { error: string },
): Promise<boolean> {
  return inTransaction(ctx.db, async (trx) => {
    const known = await trx
      .selectFrom('project_import')
      .select('project_id')
      .where('id', '=', importId)
      .executeTakeFirst();
    if (!known) return false;
    // The project first: a push, a deletion and a cancel lock in this order.
    await trx.selectFrom('project').select('id').where('id', '=', known.project_id).forNoKeyUpdate().execute();
    const row = await trx
      .selectFrom('project_import')
      .selectAll()
      .where('id', '=', importId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    if (!IMPORT_MOVES[row.status].includes('error' in outcome ? 'failed' : 'done')) return false;
    if ('error' in outcome) {
      await failImport(ctx, trx, row, outcome.error);
    } else {
      await endImport(trx, row.id, 'done', null);
      await trx
        .updateTable('project')
        .set({ default_branch: outcome.defaultBranch, pushes: sql<number>`pushes + 1`, ...columnsOf(outcome) })
        .where('id', '=', row.project_id)
        .execute();
      await recordProjectActivity(trx, row.project_id, {
        kind: 'import done',
        actorId: row.asked_by,
        detail: { url: row.url },
      });
    }
    await announceProjectOf(trx, row.project_id);
    return true;
  });
}

async function failImport(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  row: Pick<ProjectImportRow, 'id' | 'project_id' | 'asked_by' | 'url'>,
  reason: string,
): Promise<void> {
  const error = reason.slice(0, ERROR_MAX);
  ctx.log.info({ importId: row.id, projectId: row.project_id, error }, 'an import failed');
  await endImport(trx, row.id, 'failed', error);
  await recordProjectActivity(trx, row.project_id, {
    kind: 'import failed',
    actorId: row.asked_by,
    detail: { url: row.url, error },
  });
}

async function endImport(trx: Db, id: number, status: 'done' | 'failed', error: string | null): Promise<void> {
  await trx
    .updateTable('project_import')
    .set({
      status,
      status_since: sql<Date>`clock_timestamp()`,
      finished_at: sql<Date>`clock_timestamp()`,
      deadline: null,
      phase: null,
      fraction: null,
      error,
    })
    .where('id', '=', id)
    .execute();
}
