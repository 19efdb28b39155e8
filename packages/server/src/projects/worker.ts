import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { isBackupRunning } from '../db/backupLock.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, ProjectRow } from '../db/schema.ts';
import { createRepository, removeRepository } from '../git/repository.ts';
import { type Lease, releasedLease, releaseLease } from '../reconcile/lease.ts';
import { startReconcileLoop } from '../reconcile/reconcileLoop.ts';
import { decide } from './decide.ts';
import { openContainersOf } from './delete.ts';
import { refreshProject } from './recordPush.ts';
import { transitionProject } from './status.ts';

const MAX_CONCURRENT = 4;
/** While containers are being deleted, or a backup runs. */
const RECHECK_MS = 1_000;
/** A push that began is looked after for an hour. */
const REFRESH_MS = 5 * 60_000;
const PUSH_WATCHED = sql`interval '1 hour'`;

/** The disk does not do what it should; retried, and shown to people. */
class RepositoryError extends Error {}

/** Makes and removes repositories, and looks after pushes whose record may be missing. */
export function startProjectWorker(ctx: Context): { stop(): Promise<void> } {
  return startReconcileLoop(ctx, {
    table: 'project',
    plural: 'projects',
    groups: () => [{ name: '', condition: sql`true`, limit: MAX_CONCURRENT }],
    step: (lease) => step(ctx, lease),
    isExpected: (error) => error instanceof RepositoryError,
    stuck: sql`status in ('creating', 'deleting') and status_since < now() - interval '30 minutes'`,
  });
}

async function step(ctx: Context, lease: Lease): Promise<void> {
  const row = await ctx.db.selectFrom('project').selectAll().where('id', '=', lease.id).executeTakeFirst();
  if (!row) return releaseLease(ctx.db, 'project', lease, null);
  switch (decide(row, new Date())) {
    case 'make':
      return make(ctx, lease, row);
    case 'give up':
      await apply(ctx, lease, row, null, (trx) =>
        transitionProject(ctx, trx, row.id, 'creation failed', {
          reason: row.last_error ?? text('The repository could not be made in time'),
        }),
      );
      return;
    case 'refresh':
      return refresh(ctx, lease, row);
    case 'remove':
      return remove(ctx, lease, row);
    case 'nothing':
      return releaseLease(ctx.db, 'project', lease, null);
  }
}

async function make(ctx: Context, lease: Lease, row: ProjectRow): Promise<void> {
  try {
    await createRepository(ctx.config, row.repository);
  } catch (cause) {
    throw new RepositoryError(text('The repository could not be made; trying again'), { cause });
  }
  await apply(ctx, lease, row, null, (trx) => transitionProject(ctx, trx, row.id, 'active'));
}

async function refresh(ctx: Context, lease: Lease, row: ProjectRow): Promise<void> {
  await refreshProject(ctx, row.id);
  const { rows } = await sql<{ watched: boolean }>`
    update project set push_begun_at = case when push_begun_at > now() - ${PUSH_WATCHED} then push_begun_at end
    where id = ${row.id} returning push_begun_at is not null as watched`.execute(ctx.db);
  await releaseLease(ctx.db, 'project', lease, rows[0]?.watched ? REFRESH_MS : null);
}

/** A repository is removed once nothing of its project runs any more, and no backup that may name it. */
async function remove(ctx: Context, lease: Lease, row: ProjectRow): Promise<void> {
  const wait = await whatIsLeft(ctx.db, row.id);
  if (wait) {
    const isOverdue = row.status_deadline !== null && row.status_deadline < new Date();
    const failure = isOverdue ? wait.late : null;
    await apply(ctx, lease, row, failure ? null : RECHECK_MS, (trx) =>
      failure
        ? transitionProject(ctx, trx, row.id, 'deletion failed', { reason: failure })
        : transitionProject(ctx, trx, row.id, 'deleting', { reason: wait.now }),
    );
    return;
  }
  ctx.repositories.forget(row.repository);
  await removeRepository(ctx.config, row.repository);
  await apply(ctx, lease, row, null, async (trx) => {
    await trx.deleteFrom('project_instance').where('project_id', '=', row.id).execute();
    await trx.deleteFrom('project_activity').where('project_id', '=', row.id).execute();
    await trx.deleteFrom('project_import').where('project_id', '=', row.id).execute();
    await trx
      .updateTable('project')
      .set({
        size_bytes: 0n,
        is_empty: true,
        last_commit_sha: null,
        last_commit_message: null,
        last_commit_at: null,
        push_begun_at: null,
      })
      .where('id', '=', row.id)
      .execute();
    await transitionProject(ctx, trx, row.id, 'deleted');
  });
}

/**
 * The reason why the deletion of a project waits: as is shown now, and when its deadline has passed; `late` is null for
 * one that ends by itself.
 */
async function whatIsLeft(db: Db, projectId: number): Promise<{ now: string; late: string | null } | null> {
  const [container] = await openContainersOf(db, projectId);
  if (container) {
    const names = { container: container.title, server: container.instance_title };
    return {
      now: text('Waiting until its container “{{container}}” on “{{server}}” is gone', names),
      late: text('Its container “{{container}}” on “{{server}}” was not seen gone in time', names),
    };
  }
  const running = await db
    .selectFrom('project_import')
    .select('id')
    .where('project_id', '=', projectId)
    .where('lock_token', 'is not', null)
    .executeTakeFirst();
  if (running)
    return { now: text('Waiting until its import has stopped'), late: text('Its import did not stop in time') };
  return (await isBackupRunning(db)) ? { now: text('Waiting until a backup has ended'), late: null } : null;
}

/** Stores the result of a step and releases the lease, unless the lease or what is desired has changed since. */
async function apply(
  ctx: Context,
  lease: Lease,
  row: ProjectRow,
  requeueAfterMs: number | null,
  change: (trx: Db) => Promise<unknown>,
): Promise<void> {
  const isApplied = await inTransaction(ctx.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('project')
      .set({ ...releasedLease(requeueAfterMs), attempts: 0, last_error: null })
      .where('id', '=', lease.id)
      .where('lock_token', '=', lease.token)
      .where('gen', '=', row.gen)
      .where('status', '=', row.status)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await change(trx);
    return true;
  });
  if (!isApplied) await releaseLease(ctx.db, 'project', lease, 0);
}
