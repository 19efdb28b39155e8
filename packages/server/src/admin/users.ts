import type { AdminUser, AdminUserView, USER_STATES } from '@stagi/contract/adminUsers.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { type RawBuilder, sql } from 'kysely';
import { RUNNING_STATUSES } from '../billing/burnRate.ts';
import type { Db } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { notFound } from '../http/errors.ts';
import { isId, sortColumn } from '../http/paging.ts';
import { idIn, searchesPeople } from '../http/search.ts';
import { picturePath } from '../pictures/profilePicture.ts';

type State = (typeof USER_STATES)[number];

const SORTABLE = { createdAt: 'created_at', name: 'name', email: 'email' } as const;

const STATES: Record<State, RawBuilder<boolean>> = {
  active: sql`t.disabled_at is null`,
  disabled: sql`(t.disabled_at is not null and t.deleted_at is null)`,
  deleted: sql`(t.disabled_at is not null and t.deleted_at is not null)`,
};
const USERS = { from: sql`app_user t`, id: sql<number>`t.id` };
const isState = (status: string): status is State => Object.hasOwn(STATES, status);

interface Narrowed {
  verified?: boolean;
  employee?: boolean;
}

export async function listUsers(
  db: Db,
  request: EntityFilterRequest,
  narrowed: Narrowed,
  viewerId: number,
): Promise<{ entities: AdminUser[]; count: number; isMore: boolean }> {
  const order = [sql.ref(`t.${sortColumn(request, SORTABLE)}`)];
  const { ids, ...total } = await cappedPage(db, { ...USERS, where: wanted(request, narrowed), order }, request);
  const rows = new Map((await usersOf(db, ids)).map((row) => [row.id, row]));
  return { entities: ids.flatMap((id) => rows.get(id) ?? []).map((row) => present(row, viewerId)), ...total };
}

function wanted({ queryString: text, statuses }: EntityFilterRequest, { verified, employee }: Narrowed) {
  const all = [sql<boolean>`true`];
  if (text) all.push(isCalled(text));
  if (statuses?.length) {
    const states = statuses.filter(isState).map((state) => STATES[state]);
    all.push(states.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(states, sql` or `)})`);
  }
  if (verified !== undefined) all.push(sql<boolean>`t.email_verified_at is ${sql.raw(verified ? 'not null' : 'null')}`);
  if (employee !== undefined) all.push(employee ? sql<boolean>`t.is_employee` : sql<boolean>`not t.is_employee`);
  return all;
}

/** By name, address or id. */
function isCalled(text: string): RawBuilder<boolean> {
  const id = idIn(text);
  const words = searchesPeople('t', text);
  return id === null ? words : sql<boolean>`(${words} or t.id = ${id})`;
}

function usersOf(db: Db, ids: readonly number[]) {
  return db
    .selectFrom('app_user as u')
    .leftJoin('app_user as operator', 'operator.id', 'u.disabled_by')
    .select([
      'u.id',
      'u.name',
      'u.email',
      'u.image',
      'u.is_employee',
      'u.email_verified_at',
      'u.disabled_at',
      'u.disabled_reason',
      'u.deleted_at',
      'u.created_at',
      'operator.name as disabled_by_name',
      sql<Date | null>`(select max(s.last_used_at) from session s where s.user_id = u.id)`.as('last_seen_at'),
    ])
    .where('u.id', '=', sql<number>`any(${[...ids]}::int[])`)
    .execute();
}

type Row = Awaited<ReturnType<typeof usersOf>>[number];

function present(row: Row, viewerId: number): AdminUser {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    image: row.image && picturePath(row.image),
    state: row.deleted_at ? 'deleted' : row.disabled_at ? 'disabled' : 'active',
    isVerified: row.email_verified_at !== null,
    isEmployee: row.is_employee,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    disabled: row.disabled_at && {
      at: row.disabled_at.toISOString(),
      reason: row.disabled_reason,
      by: row.disabled_by_name,
    },
    hold: row.deleted_at ? 'deleted' : row.id === viewerId ? 'self' : null,
  };
}

export async function userOf(db: Db, id: number, viewerId: number): Promise<AdminUser> {
  const known = await db.selectFrom('app_user').select('id').where(isId('id', id)).executeTakeFirst();
  const [row] = known ? await usersOf(db, [known.id]) : [];
  if (!row) throw notFound();
  return present(row, viewerId);
}

const SHOWN_WORKSPACES = 100;

/** What an operator may know of somebody: no secret, and nothing of what is in their workspaces. */
export async function viewUser(db: Db, id: number, viewerId: number): Promise<AdminUserView> {
  const user = await userOf(db, id, viewerId);
  const [more, workspaces] = await Promise.all([openOf(db, user.id), workspacesOf(db, user.id)]);
  return { ...user, ...more, workspaces };
}

async function openOf(db: Db, userId: number) {
  const { rows } = await sql<{
    language: Language | null;
    signedInBy: AdminUserView['signedInBy'];
    hasSecondFactor: boolean;
    sessions: number;
    apiTokens: number;
    lastSignInAt: Date | null;
    workspaceCount: number;
  }>`
    select u.language,
      array_remove(array[case when u.password_hash is not null then 'password' end,
        case when exists (select 1 from passkey p where p.user_id = u.id) then 'passkey' end]
        || array(select distinct provider from external_identity e where e.user_id = u.id order by 1), null) as "signedInBy",
      exists (select 1 from totp where totp.user_id = u.id and confirmed_at is not null)
        or exists (select 1 from passkey p where p.user_id = u.id) as "hasSecondFactor",
      (select count(*)::int from session s where s.user_id = u.id and s.revoked_at is null and s.expires_at > now()) as sessions,
      (select count(*)::int from api_token a
        where a.user_id = u.id and a.archived_at is null and coalesce(a.expires_at > now(), true)) as "apiTokens",
      (select max(s.created_at) from session s where s.user_id = u.id and s.app_id is null) as "lastSignInAt",
      (select count(*)::int from membership m where m.user_id = u.id) as "workspaceCount"
    from app_user u where u.id = ${userId}`.execute(db);
  const row = rows[0];
  if (!row) throw notFound();
  return { ...row, lastSignInAt: row.lastSignInAt?.toISOString() ?? null };
}

async function workspacesOf(db: Db, userId: number): Promise<AdminUserView['workspaces']> {
  const running = sql.join(RUNNING_STATUSES.map((status) => sql.lit(status)));
  const { rows } = await sql<{
    clientId: number;
    clientName: string;
    roleName: Role;
    subscriptionPlan: Plan;
    isDisabled: boolean;
    isOnlyOwner: boolean;
    running: number;
  }>`
    select w.id as "clientId", w.name as "clientName", m.role as "roleName", w.plan as "subscriptionPlan",
      w.disabled_at is not null as "isDisabled",
      m.role = 'Owner' and not exists (select 1 from membership o join app_user u on u.id = o.user_id
        where o.workspace_id = w.id and o.role = 'Owner' and o.user_id <> m.user_id and u.disabled_at is null) as "isOnlyOwner",
      (select count(*)::int from instance i where i.workspace_id = w.id and i.kind = 'rented' and i.closed_at is null
        and i.status in (${running})) as running
    from membership m join workspace w on w.id = m.workspace_id
    where m.user_id = ${userId}
    order by m.created_at, w.id limit ${SHOWN_WORKSPACES}`.execute(db);
  return rows;
}
