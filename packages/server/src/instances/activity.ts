import type { Activity, ActivityKind, TimeRange } from '@stagi/contract/instances.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, pageOf, sortColumn } from '../http/paging.ts';

interface NewActivity {
  /** `rented`, `status`, `ssh key added`, … */
  kind: ActivityKind;
  actorId?: number | null;
  from?: string;
  to?: string;
  detail?: string | null;
}

/** Adds to the history of one or several instances, in the transaction of the change itself. */
export async function recordActivity(
  trx: Db,
  instanceIds: number | readonly number[],
  { kind, actorId, from, to, detail }: NewActivity,
): Promise<void> {
  await sql`insert into instance_activity (instance_id, kind, actor_id, from_status, to_status, detail)
    select id, ${kind}, ${actorId ?? null}::int, ${from ?? null}::text, ${to ?? null}::text, ${detail ?? null}::text
    from unnest(${[instanceIds].flat()}::int[]) as id`.execute(trx);
}

const SEARCHED = ['instance_activity.kind', 'from_status', 'to_status', 'detail', 'app_user.name'];

/** The history of one instance, whose ownership the caller has checked. */
export async function listActivities(
  db: Db,
  instanceId: number,
  request: EntityFilterRequest,
  { from, to }: TimeRange,
) {
  sortColumn(request, { createdAt: 'id', at: 'id' });
  let all = db
    .selectFrom('instance_activity')
    .leftJoin('app_user', 'app_user.id', 'instance_activity.actor_id')
    .where('instance_id', '=', instanceId);
  if (request.statuses?.length) all = all.where('to_status', 'in', request.statuses);
  if (from) all = all.where('at', '>=', new Date(from));
  if (to) all = all.where('at', '<=', new Date(to));
  if (request.queryString) all = all.where(contains(SEARCHED, request.queryString));
  const [rows, { count }] = await Promise.all([
    all
      .select(['instance_activity.id', 'at', 'kind', 'app_user.name as actor', 'from_status', 'to_status', 'detail'])
      .orderBy('instance_activity.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  const entities = rows.map(
    (row): Activity => ({
      id: row.id,
      at: row.at.toISOString(),
      kind: row.kind,
      actor: row.actor,
      from: row.from_status,
      to: row.to_status,
      detail: row.detail,
    }),
  );
  return pageOf(entities, count, request);
}
