import type { AdminClient, AdminClientView, CLIENT_STATES } from '@stagi/contract/adminClients.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import type { PlanQuotas, WorkspacePlan } from '@stagi/contract/planLimits.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { type RawBuilder, sql } from 'kysely';
import { balanceOf, perHourOf, RUNNING_STATUSES } from '../billing/burnRate.ts';
import { presentPrice } from '../billing/price.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { versionOf } from '../http/editVersion.ts';
import { notFound } from '../http/errors.ts';
import { isId, sortColumn } from '../http/paging.ts';
import { beginsWith, idIn, searches } from '../http/search.ts';
import { planUseOf } from './planUse.ts';

interface Seen {
  db: Db;
  config: Config;
}
type State = (typeof CLIENT_STATES)[number];

const SORTABLE = { createdAt: 'created_at', name: 'name' } as const;

const STATES: Record<State, RawBuilder<boolean>> = {
  active: sql`t.disabled_at is null`,
  disabled: sql`(t.disabled_at is not null and t.deleted_at is null)`,
  closed: sql`(t.disabled_at is not null and t.deleted_at is not null)`,
};
const CLIENTS = { from: sql`workspace t`, id: sql<number>`t.id` };
const isState = (status: string): status is State => Object.hasOwn(STATES, status);

export async function listClients(
  ctx: Seen,
  request: EntityFilterRequest,
  plans: readonly Plan[] | undefined,
): Promise<{ entities: AdminClient[]; count: number; isMore: boolean }> {
  const order = [sql.ref(`t.${sortColumn(request, SORTABLE)}`)];
  const { ids, ...total } = await cappedPage(ctx.db, { ...CLIENTS, where: wanted(request, plans), order }, request);
  const rows = new Map((await clientsOf(ctx.db, ids)).map((row) => [row.id, row]));
  return { entities: ids.flatMap((id) => rows.get(id) ?? []).map((row) => present(ctx.config, row)), ...total };
}

function wanted({ queryString: text, statuses }: EntityFilterRequest, plans: readonly Plan[] = []) {
  const all = [sql<boolean>`true`];
  if (text) all.push(isCalled(text));
  if (statuses?.length) {
    const states = statuses.filter(isState).map((state) => STATES[state]);
    all.push(states.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(states, sql` or `)})`);
  }
  if (plans.length > 0) all.push(sql<boolean>`t.plan in (${sql.join(plans)})`);
  return all;
}

/**
 * By name or id; a text with an @ is the beginning of an owner's address, as half of all addresses end alike. As an array
 * of ids PostgreSQL looks up the owned workspaces alone; for a join it may read all of them.
 */
function isCalled(text: string): RawBuilder<boolean> {
  if (text.includes('@'))
    return sql<boolean>`t.id = any(array(select m.workspace_id from app_user u join membership m on m.user_id = u.id
      where m.role = 'Owner' and ${beginsWith('u.email', text)}))`;
  const id = idIn(text);
  const name = searches('t.search', text);
  return id === null ? name : sql<boolean>`(${name} or t.id = ${id})`;
}

interface Row {
  id: number;
  name: string;
  plan: Plan;
  quotas: PlanQuotas;
  created_at: Date;
  disabled_at: Date | null;
  disabled_reason: string | null;
  deleted_at: Date | null;
  personal_of: number | null;
  disabled_by_name: string | null;
  owner: AdminClient['owner'];
  members: number;
  running: number;
  balance: bigint;
  per_hour: bigint;
}

const runningStatuses = sql.join(RUNNING_STATUSES.map((status) => sql.lit(status)));

async function clientsOf(db: Db, ids: readonly number[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select w.id, w.name, w.plan, w.quotas, w.created_at, w.disabled_at, w.disabled_reason, w.deleted_at, w.personal_of,
      operator.name as disabled_by_name,
      (select json_build_object('userId', u.id, 'name', u.name, 'email', u.email)
        from membership m join app_user u on u.id = m.user_id
        where m.workspace_id = w.id and m.role = 'Owner' order by m.created_at, m.user_id limit 1) as owner,
      (select count(*)::int from membership m where m.workspace_id = w.id) as members,
      (select count(*)::int from instance i where i.workspace_id = w.id and i.kind = 'rented' and i.closed_at is null
        and i.status in (${runningStatuses})) as running,
      ${sql.raw(balanceOf('w.id'))} as balance, ${sql.raw(perHourOf('w'))} as per_hour
    from workspace w left join app_user operator on operator.id = w.disabled_by
    where w.id = any(${[...ids]}::int[])`.execute(db);
  return rows;
}

function present(config: Config, row: Row): AdminClient {
  return {
    id: row.id,
    name: row.name,
    state: row.deleted_at ? 'closed' : row.disabled_at ? 'disabled' : 'active',
    subscriptionPlan: row.plan,
    quotas: row.quotas,
    version: planVersion(row),
    owner: row.owner,
    members: row.members,
    running: row.running,
    balance: presentPrice(config, row.balance),
    createdAt: row.created_at.toISOString(),
    disabled: row.disabled_at && {
      at: row.disabled_at.toISOString(),
      reason: row.disabled_reason,
      by: row.disabled_by_name,
    },
  };
}

/** The version of what `edit-plan` changes. */
export const planVersion = ({ plan, quotas }: WorkspacePlan): string => versionOf({ plan, quotas });

async function rowOf(db: Db, id: number): Promise<Row> {
  const known = await db.selectFrom('workspace').select('id').where(isId('id', id)).executeTakeFirst();
  const [row] = known ? await clientsOf(db, [known.id]) : [];
  if (!row) throw notFound();
  return row;
}

export async function clientOf(ctx: Seen, id: number): Promise<AdminClient> {
  return present(ctx.config, await rowOf(ctx.db, id));
}

const SHOWN = 100;

/** What an operator may know of a workspace: who is in it, what it has and what runs, and nothing of what that does. */
export async function viewClient(ctx: Seen, id: number): Promise<AdminClientView> {
  const row = await rowOf(ctx.db, id);
  const [people, machines, { count }] = await Promise.all([
    peopleOf(ctx.db, row.id),
    machinesOf(ctx, row.id),
    ctx.db
      .selectFrom('instance')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('workspace_id', '=', row.id)
      .where('closed_at', 'is', null)
      .executeTakeFirstOrThrow(),
  ]);
  return {
    ...present(ctx.config, row),
    isPersonal: row.personal_of !== null,
    spentPerHour: presentPrice(ctx.config, row.per_hour),
    use: await planUseOf(ctx.db, row.id),
    people,
    machines,
    machineCount: count,
  };
}

async function peopleOf(db: Db, workspaceId: number): Promise<AdminClientView['people']> {
  const { rows } = await sql<{ userId: number; name: string; email: string; roleName: Role; isDisabled: boolean }>`
    select u.id as "userId", u.name, u.email, m.role as "roleName", u.disabled_at is not null as "isDisabled"
    from (
      (select user_id, role, created_at, 0 as rank from membership
        where workspace_id = ${workspaceId} and role = 'Owner' order by created_at, user_id limit ${SHOWN})
      union all
      (select user_id, role, created_at, 1 from membership
        where workspace_id = ${workspaceId} and role <> 'Owner' order by created_at, user_id limit ${SHOWN})
    ) m join app_user u on u.id = m.user_id
    order by m.rank, m.created_at, m.user_id limit ${SHOWN}`.execute(db);
  return rows;
}

async function machinesOf({ db, config }: Seen, workspaceId: number): Promise<AdminClientView['machines']> {
  const rows = await db
    .selectFrom('instance')
    .select(['id', 'kind', 'title', 'slug', 'status', 'provider', 'price_per_hour', 'offer', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('closed_at', 'is', null)
    // Who disables the workspace has to be asked about those.
    .orderBy(sql`kind = 'rented' and not coalesce((offer->>'canStop')::boolean, false)`, 'desc')
    .orderBy(sql`status in (${runningStatuses})`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(SHOWN)
    .execute();
  return rows.map(({ price_per_hour, offer, created_at, ...row }) => ({
    ...row,
    canStop: offer?.canStop ?? false,
    pricePerHour: price_per_hour === null ? null : presentPrice(config, price_per_hour),
    createdAt: created_at.toISOString(),
  }));
}
