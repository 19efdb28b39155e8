import { api } from '@stagi/contract/api.ts';
import type { Consent } from '@stagi/contract/apps.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type Selectable, sql } from 'kysely';
import { type Actor, recordAct } from '../audit/record.ts';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import type { SessionTable } from '../db/identityTables.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';
import { liveSessionsOf } from '../sessions/sessions.ts';
import { shutOut } from './shutOut.ts';

const REVOKE = api.apps.revokeConsent.path;
const SORTABLE = { createdAt: 'session.created_at', lastUsedAt: 'session.last_used_at' } as const;

type Row = Selectable<SessionTable> & { workspace_name: string | null };

/** The user's consents that are still valid; those of apps that are no longer registered are not. */
export async function listConsents(
  { db, config }: { db: Db; config: Config },
  userId: number,
  request: EntityFilterRequest,
): Promise<{ rows: Row[]; count: number }> {
  let mine = liveSessionsOf(db, userId)
    .leftJoin('workspace', 'workspace.id', 'session.app_workspace_id')
    .where('session.app_id', 'in', [...config.apps.keys()]);
  if (request.queryString) mine = mine.where(contains(['session.app_id', 'workspace.name'], request.queryString));
  const [rows, { count }] = await Promise.all([
    mine
      .selectAll('session')
      .select('workspace.name as workspace_name')
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('session.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    mine.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

export function presentConsent({ apps }: Pick<Config, 'apps'>, row: Row): Consent {
  const app = apps.get(row.app_id ?? '');
  if (!app) throw new Error('a consent of no registered app');
  return {
    id: row.id,
    app: { id: app.id, name: app.name, isFirstParty: app.isFirstParty },
    workspace:
      row.app_workspace_id === null ? null : { clientId: row.app_workspace_id, clientName: row.workspace_name ?? '' },
    permissions: row.app_permissions,
    ip: row.ip,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
  };
}

/** Succeeds also when it was revoked before. 404 for somebody else's, and for a session that is not an app's. */
export async function revokeConsent(
  ctx: Context & Omit<Actor, 'workspace'> & { user: { id: number } },
  id: string,
): Promise<void> {
  const mine = await ctx.db
    .selectFrom('session')
    .select(['app_id', 'app_workspace_id'])
    .where('id', '=', id)
    .where('user_id', '=', ctx.user.id)
    .where('app_id', 'is not', null)
    .executeTakeFirst();
  if (!mine) throw notFound();
  await inTransaction(ctx.db, async (trx) => {
    const isEnded = await shutOut(trx, id, 'shut out by its user');
    if (!isEnded || mine.app_workspace_id === null) return;
    const workspace = { id: mine.app_workspace_id };
    const app = mine.app_id ?? '';
    const detail = { app, names: { app: ctx.config.apps.get(app)?.name ?? app } };
    await recordAct(trx, { ...ctx, workspace }, { action: REVOKE, outcome: 'done', detail });
  });
}
