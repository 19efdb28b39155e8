import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Stray } from '@stagi/contract/strays.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db, StrayRow } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';

const SORTABLE: Record<string, keyof StrayRow> = {
  createdAt: 'first_seen_at',
  firstSeenAt: 'first_seen_at',
  provider: 'provider',
  name: 'name',
};

/** Strays that are not gone. `statuses` filters by reason. */
export async function listStrays(db: Db, request: EntityFilterRequest): Promise<{ rows: StrayRow[]; count: number }> {
  const { statuses, queryString } = request;
  const wanted = sql<boolean>`gone_at is null
    and ${statuses?.length ? sql`reason in (${sql.join(statuses)})` : sql`true`}
    and ${queryString ? contains(['name', 'ref', 'ip'], queryString) : sql`true`}`;
  const [rows, { count }] = await Promise.all([
    db
      .selectFrom('stray')
      .selectAll()
      .where(wanted)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    db.selectFrom('stray').select(sql<number>`count(*)::int`.as('count')).where(wanted).executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

/** The lock keeps two operators from deciding differently. */
export async function lockUndecidedStray(trx: Db, id: number): Promise<StrayRow> {
  const row = await trx
    .selectFrom('stray')
    .selectAll()
    .where(isId('id', id))
    .where('gone_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  if (row.decision) throw refused(text('Somebody has already decided about this machine'));
  return row;
}

export async function recordDecision(
  trx: Db,
  id: number,
  decision: NonNullable<StrayRow['decision']>,
  userId: number,
): Promise<StrayRow> {
  return trx
    .updateTable('stray')
    .set({ decision, decided_by: userId, decided_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function presentStray(ctx: Pick<Context, 'config' | 'providers'>, row: StrayRow): Stray {
  return {
    id: row.id,
    provider: row.provider,
    providerTitle: ctx.providers.get(row.provider)?.title ?? row.provider,
    ref: row.ref,
    name: row.name,
    tags: row.tags,
    state: row.state,
    ip: row.ip,
    reason: row.reason,
    instanceId: row.instance_id,
    firstSeenAt: row.first_seen_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    deletedFrom: deletionDueAt(ctx, row)?.toISOString() ?? null,
    decision: row.decision,
    deletions: row.deletions,
    lastError: row.last_error,
  };
}

function deletionDueAt({ config }: Pick<Context, 'config'>, row: StrayRow): Date | null {
  if (row.decision === 'delete') return row.decided_at;
  if (row.decision === 'adopt' || row.reason !== 'closed') return null;
  return new Date(row.first_seen_at.getTime() + config.quarantineMs);
}
