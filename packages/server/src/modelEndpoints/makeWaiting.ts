import type { Role } from '@stagi/contract/permissions.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { PublicError } from '../http/errors.ts';
import { permissionsOf } from '../sessions/authenticate.ts';
import { WantedContainer } from './container.ts';
import { makeContainer, wantedPlace } from './deploy.ts';

const MAX_PER_PASS = 50;

interface Waiting extends WorkspacePlan {
  id: number;
  workspace_id: number;
  instance_id: number;
  wanted_sealed: string;
  server_status: string;
  server_reason: string | null;
  is_late: boolean;
  has_facts: boolean;
  user_id: number;
  /** Null: no longer a member, or disabled. */
  role: Role | null;
  is_employee: boolean;
  is_disabled: boolean;
}

/** Makes the containers of served models whose server is online by now, and fails those whose server will not be. */
export async function makeWaitingContainers(ctx: Context): Promise<void> {
  const { rows } = await sql<{ id: number }>`select e.id from model_endpoint e join instance i on i.id = e.instance_id
    left join daemon_node n on n.instance_id = i.id
    where e.container_id is null and e.failed_reason is null and e.deleted_at is null
      and (i.status in ('creation failed', 'terminating', 'terminated', 'error') or e.server_deadline < now()
        or (i.status = 'online' and n.facts is not null))
    order by e.id limit ${MAX_PER_PASS}`.execute(ctx.db);
  for (const { id } of rows)
    await advance(ctx, id).catch((error: unknown) =>
      ctx.log.error({ err: error, endpointId: id }, 'a served model could not be advanced; it is tried again'),
    );
}

/** A refusal of its container is final, and is stored in a transaction of its own. */
async function advance(ctx: Context, id: number): Promise<void> {
  try {
    await inTransaction(ctx.db, async (trx) => {
      const row = await lockWaiting(trx, id);
      if (!row) return;
      const reason = reasonToFail(row);
      if (reason !== null) return fail(trx, row, reason);
      const permissions = permissionsOf(row.role!, row.is_employee);
      const caller = {
        ...ctx,
        db: trx,
        user: { id: row.user_id },
        workspace: { id: row.workspace_id, plan: row.plan, quotas: row.quotas, permissions },
      };
      const wanted = WantedContainer.parse(JSON.parse(ctx.secrets.open(row.wanted_sealed, wantedPlace(id))));
      await makeContainer(caller, { id, instanceId: row.instance_id }, wanted);
      await announce(trx, 'changed', { entity: 'model', id, workspaceId: row.workspace_id });
    });
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    await inTransaction(ctx.db, async (trx) => {
      const row = await lockWaiting(trx, id);
      if (row) await fail(trx, row, error.message);
    });
  }
}

async function lockWaiting(trx: Db, id: number): Promise<Waiting | undefined> {
  const locked =
    await sql`select from model_endpoint where id = ${id} and container_id is null and failed_reason is null
    and deleted_at is null for update skip locked`.execute(trx);
  if (locked.rows.length === 0) return undefined;
  const { rows } = await sql<Waiting>`select e.id, e.workspace_id, e.instance_id, e.wanted_sealed,
      i.status as server_status, i.status_reason as server_reason, e.server_deadline < now() as is_late,
      n.facts is not null as has_facts, e.created_by as user_id, m.role, coalesce(u.is_employee, false) as is_employee,
      w.plan, w.quotas, (w.disabled_at is not null or w.deleted_at is not null) as is_disabled
    from model_endpoint e join instance i on i.id = e.instance_id join workspace w on w.id = e.workspace_id
    left join daemon_node n on n.instance_id = i.id
    left join app_user u on u.id = e.created_by and u.disabled_at is null
    left join membership m on m.workspace_id = e.workspace_id and m.user_id = u.id
    where e.id = ${id}`.execute(trx);
  return rows[0];
}

/** Null: its container can be made. */
function reasonToFail(row: Waiting): string | null {
  if (row.is_disabled) return text('The workspace is disabled');
  if (row.role === null) return text('Whoever deployed it is no longer a member');
  if (row.server_status === 'online' && row.has_facts) return null;
  if (row.is_late) return text('Its server was not online in time');
  return row.server_reason ?? text('Its server could not be rented');
}

async function fail(trx: Db, { id, workspace_id }: Waiting, reason: string): Promise<void> {
  await trx
    .updateTable('model_endpoint')
    .set({ failed_reason: reason, failed_at: sql<Date>`now()`, wanted_sealed: null, key_sealed: null })
    .where('id', '=', id)
    .execute();
  await announce(trx, 'changed', { entity: 'model', id, workspaceId: workspace_id });
}
