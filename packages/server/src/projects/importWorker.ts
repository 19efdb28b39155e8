import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { PublicError } from '../http/errors.ts';
import { type Lease, releaseLease } from '../reconcile/lease.ts';
import { startReconcileLoop } from '../reconcile/reconcileLoop.ts';
import { planRoomBytes } from '../storages/quota.ts';
import { repositoryPath } from './gitAccess.ts';
import { finishImport, type ImportProgress, progressImport } from './imports.ts';
import { headBranch, readRepositoryState } from './repositoryState.ts';
import { announceProjectOf } from './status.ts';

const MAX_CONCURRENT = 4;
/** One of each workspace at a time: nobody's imports wait for all of somebody else's. */
const IS_NEXT_OF_WORKSPACE = sql`not exists (
  select from project_import earlier join project theirs on theirs.id = earlier.project_id
  where earlier.id < project_import.id and earlier.status in ('queued', 'running')
    and theirs.workspace_id = (select workspace_id from project where id = project_import.project_id))`;
/** How often progress is stored, and how soon a canceled import stops. */
const REPORT_MS = 1_000;

/** What is to be fetched, and where to. */
export interface ImportJob {
  projectId: number;
  workspaceId: number;
  url: string;
  /** The folder of the repository. An attempt that was cut off may have left something there. */
  dir: string;
  /** What the plan leaves; null: unlimited. */
  roomBytes: number | null;
}

/**
 * Fetches a repository and sets its HEAD. Throws `ImportError` with a message for people, and then leaves the repository
 * empty. `report` may be called at any pace. `signal` ends it: it was canceled, or is late.
 */
export type FetchRepository = (
  job: ImportJob,
  report: (progress: ImportProgress) => void,
  signal: AbortSignal,
) => Promise<void>;

/** Why a repository cannot be imported, for people. */
export class ImportError extends Error {}

/** Runs imports. An import whose process ended begins anew in another one. */
export function startImportWorker(ctx: Context, fetch: FetchRepository): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loop = startReconcileLoop(ctx, {
    table: 'project_import',
    plural: 'imports',
    groups: () => [{ name: '', condition: IS_NEXT_OF_WORKSPACE, limit: MAX_CONCURRENT }],
    step: (lease) => step(ctx, lease, fetch, stopping.signal),
    isExpected: (error) => error instanceof Stopped,
    stuck: sql`status in ('queued', 'running') and status_since < now() - interval '3 hours'`,
  });
  return {
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** This process ends: the import goes on elsewhere, or later. */
class Stopped extends Error {}

async function step(ctx: Context, lease: Lease, fetch: FetchRepository, stopping: AbortSignal): Promise<void> {
  const job = await begin(ctx, lease.id);
  if (job) {
    const ended = await run(ctx, lease.id, job, fetch, stopping);
    if (ended === 'stopped') throw new Stopped(text('The platform restarts'));
    await finishImport(ctx, lease.id, ended);
  }
  await releaseLease(ctx.db, 'project_import', lease, null);
}

/** Null when it has ended already. */
async function begin(ctx: Context, id: number): Promise<(ImportJob & { msLeft: number }) | null> {
  const found = await inTransaction(ctx.db, async (trx) => {
    const row = await trx
      .selectFrom('project_import')
      .innerJoin('project', 'project.id', 'project_import.project_id')
      .innerJoin('workspace', 'workspace.id', 'project.workspace_id')
      .select(['project_import.project_id', 'project_import.url', 'project_import.status'])
      .select(['project.workspace_id', 'workspace.plan', 'workspace.quotas'])
      .select(sql<number>`extract(epoch from project_import.deadline - clock_timestamp()) * 1000`.as('msLeft'))
      .where('project_import.id', '=', id)
      .where('project_import.status', 'in', ['queued', 'running'])
      .forNoKeyUpdate('project_import')
      .executeTakeFirst();
    if (!row) return null;
    await trx
      .updateTable('project_import')
      .set({
        status: 'running',
        ...(row.status === 'queued' && { status_since: sql<Date>`clock_timestamp()` }),
        started_at: sql<Date>`coalesce(started_at, clock_timestamp())`,
      })
      .where('id', '=', id)
      .execute();
    await announceProjectOf(trx, row.project_id);
    return row;
  });
  if (!found) return null;
  const { project_id, workspace_id, plan, quotas, url } = found;
  return {
    projectId: project_id,
    workspaceId: workspace_id,
    url,
    dir: await repositoryPath(ctx, project_id),
    roomBytes: await planRoomBytes(ctx.db, { id: workspace_id, plan, quotas }),
    msLeft: Number(found.msLeft),
  };
}

type Ended = Parameters<typeof finishImport>[2] | 'stopped';

async function run(
  ctx: Context,
  id: number,
  { msLeft, ...job }: ImportJob & { msLeft: number },
  fetch: FetchRepository,
  stopping: AbortSignal,
): Promise<Ended> {
  const canceled = new AbortController();
  const late = AbortSignal.timeout(Math.max(0, Math.round(msLeft)));
  const signal = AbortSignal.any([canceled.signal, late, stopping]);
  let progress: ImportProgress = { phase: 'connecting', fraction: null, receivedBytes: 0 };
  let stored: Promise<void> = Promise.resolve();
  const store = async (): Promise<void> => {
    try {
      if (!(await progressImport(ctx, id, progress))) canceled.abort();
    } catch (err) {
      // The next report may get through.
      ctx.log.warn({ err, importId: id }, 'cannot store how far an import is');
    }
  };
  const reporting = setInterval(() => {
    stored = stored.then(store);
  }, REPORT_MS);
  try {
    await fetch(job, (next) => (progress = next), signal);
    const branch = await headBranch(job.dir);
    return { ...(await readRepositoryState(job.dir, branch)), defaultBranch: branch };
  } catch (error) {
    if (stopping.aborted && !canceled.signal.aborted && !late.aborted) return 'stopped';
    if (late.aborted) return { error: text('The import did not end in time') };
    if (error instanceof ImportError || error instanceof PublicError) return { error: error.message };
    if (!signal.aborted) ctx.log.error({ err: error, importId: id }, 'an import failed unexpectedly');
    return { error: text('The import failed unexpectedly') };
  } finally {
    clearInterval(reporting);
    await stored;
  }
}
