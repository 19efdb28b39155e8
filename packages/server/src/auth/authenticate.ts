import type { Language } from '@stagi/contract/languages.ts';
import { type Permission, ROLE_PERMISSIONS, type Role } from '@stagi/contract/permissions.ts';
import type { Plan, Theme } from '@stagi/contract/user.ts';
import { balanceOf, perHourOf } from '../billing/spending.ts';
import type { Context } from '../context.ts';
import { verifyAccessToken } from './accessToken.ts';

export interface Membership {
  /** The workspace's id. */
  id: number;
  name: string;
  plan: Plan;
  exhausted: boolean;
  role: Role;
  permissions: readonly Permission[];
  /** Micro-STAGI that can be spent, and that are spent an hour. */
  balance: bigint;
  perHour: bigint;
}

export interface Authenticated {
  session: { id: string };
  user: {
    id: number;
    email: string;
    name: string;
    image: string | null;
    language: Language | null;
    theme: Theme;
    isEmployee: boolean;
    hasTestMode: boolean;
    hasPassword: boolean;
    isSignupFormSubmitted: boolean;
  };
  memberships: Membership[];
}

interface SessionRow {
  user_id: number;
  email: string;
  name: string;
  image: string | null;
  language: Language | null;
  theme: Theme;
  is_employee: boolean;
  has_test_mode: boolean;
  has_password: boolean;
  has_signup_form: boolean;
  relations: {
    id: number;
    name: string;
    plan: Plan;
    exhausted: boolean;
    role: Role;
    balance: string;
    perHour: string;
  }[];
}

// Read at every request: a named statement, so that PostgreSQL plans it once a connection.
const SESSION = {
  name: 'session',
  text: `select u.id as user_id, u.email, u.name, u.image, u.language, u.theme, u.is_employee, u.has_test_mode,
      u.password_hash is not null as has_password, u.signup_form is not null as has_signup_form,
      coalesce((select json_agg(json_build_object('id', w.id, 'name', w.name, 'plan', w.plan, 'role', m.role,
          'exhausted', w.exhausted_at is not null,
          'perHour', ${perHourOf('w.id')}::text, 'balance', ${balanceOf('w.id')}::text)
          order by m.created_at, w.id)
        from membership m join workspace w on w.id = m.workspace_id
        where m.user_id = u.id and w.disabled_at is null), '[]') as relations
    from session s join app_user u on u.id = s.user_id
    where s.id = $1 and s.user_id = $2 and s.revoked_at is null and s.expires_at > now() and u.disabled_at is null`,
};

/**
 * The session behind an Authorization header, `null` when there is none that is valid now. Session,
 * user and memberships are read at every request, so that a removal bites at once.
 */
export async function authenticate(context: Context, authorization: string | undefined): Promise<Authenticated | null> {
  if (!authorization?.startsWith('Bearer ')) return null;
  const claims = await verifyAccessToken(context.keys.access, authorization.slice('Bearer '.length));
  if (!claims) return null;
  return loadSession(context, claims.sessionId, claims.userId);
}

export async function loadSession(context: Context, sessionId: string, userId: number): Promise<Authenticated | null> {
  const { rows } = await context.pg.query<SessionRow>({ ...SESSION, values: [sessionId, userId] });
  const row = rows[0];
  if (!row) return null;
  return {
    session: { id: sessionId },
    user: {
      id: row.user_id,
      email: row.email,
      name: row.name,
      image: row.image,
      language: row.language,
      theme: row.theme,
      isEmployee: row.is_employee,
      hasTestMode: row.has_test_mode,
      hasPassword: row.has_password,
      isSignupFormSubmitted: row.has_signup_form,
    },
    memberships: row.relations.map((relation) => ({
      ...relation,
      balance: BigInt(relation.balance),
      perHour: BigInt(relation.perHour),
      permissions: permissionsOf(relation.role, row.is_employee),
    })),
  };
}

function permissionsOf(role: Role, isEmployee: boolean): readonly Permission[] {
  return isEmployee ? [...ROLE_PERMISSIONS[role], 'EMPLOYEE'] : ROLE_PERMISSIONS[role];
}
