import type { Language } from '@stagi/contract/languages.ts';
import { type Permission, ROLE_PERMISSIONS, type Role, TOKEN_PERMISSIONS } from '@stagi/contract/permissions.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import type { Theme } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { hasRentalsOf } from '../billing/burnRate.ts';
import { permissionsOfApp } from '../config/registeredApps.ts';
import type { Context } from '../context.ts';
import { stepUpNeeded } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { matchesHash, parseApiToken } from '../secrets/apiTokenFormat.ts';
import { verifyAccessToken } from './accessToken.ts';

export interface Membership extends WorkspacePlan {
  /** The workspace's id. */
  id: number;
  name: string;
  exhausted: boolean;
  role: Role;
  permissions: readonly Permission[];
  /** Whether something is rented in it: only then its balance runs down. */
  hasRentals: boolean;
}

/** What authenticated the caller: a session or an API token. */
export type Credential = { kind: 'session'; id: string } | { kind: 'token'; id: number; expiresAt: Date | null };

export interface Authenticated {
  credential: Credential;
  /** Throws when read on a call that an API token makes. */
  session: {
    readonly id: string;
    /** Whether the user passed a step-up within the last `STEP_UP_MINUTES`. */
    readonly steppedUp: boolean;
  };
  /** The app that acts for the user in this session; null: the user's own browser. */
  app: { id: string } | null;
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
    isGettingStarted: boolean;
  };
  /** An API token, or an app authorized for one workspace, has only that one, with its owner's permissions cut down to its own. */
  memberships: Membership[];
}

/** The caller of a call that requires a session. */
export type SignedIn = Visitor & Pick<Authenticated, 'session' | 'user'>;

/** For a call that needs a step-up only for some inputs; one that always does says `stepUp` in the contract. */
export function requireStepUp({ session }: Pick<Authenticated, 'session'>): void {
  if (!session.steppedUp) throw stepUpNeeded();
}

/** How long a step-up is valid. */
const STEP_UP_MINUTES = 10;

interface OwnerRow {
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
  is_getting_started: boolean;
  relations: Omit<Membership, 'permissions'>[];
}

/** The columns of a credential's owner `u`, with those of their memberships that `where` allows. */
const ownerColumns = (where: string): string => `u.id as user_id, u.email, u.name, u.image, u.language, u.theme,
      u.is_employee, u.has_test_mode,
      u.password_hash is not null as has_password, u.signup_form is not null as has_signup_form,
      u.getting_started_closed_at is null as is_getting_started,
      coalesce((select json_agg(json_build_object('id', w.id, 'name', w.name, 'plan', w.plan, 'quotas', w.quotas, 'role', m.role,
          'exhausted', w.exhausted_at is not null,
          'hasRentals', ${hasRentalsOf('w')})
          order by m.created_at, w.id)
        from membership m join workspace w on w.id = m.workspace_id
        where m.user_id = u.id and w.disabled_at is null ${where}), '[]') as relations`;

// Read at every request: named statements, so that PostgreSQL plans them once a connection.
const SESSION = {
  name: 'session',
  text: `select ${ownerColumns('and (s.app_workspace_id is null or w.id = s.app_workspace_id)')}, s.app_id, s.app_permissions,
      s.stepped_up_at > now() - interval '${STEP_UP_MINUTES} minutes' is true as stepped_up
    from session s join app_user u on u.id = s.user_id
    where s.id = $1 and s.user_id = $2 and s.revoked_at is null and s.expires_at > now() and u.disabled_at is null`,
};
const TOKEN = {
  name: 'api-token',
  text: `select ${ownerColumns('and w.id = t.workspace_id')}, t.hash, t.permissions, t.expires_at,
      t.last_used_at is null or t.last_used_at < now() - interval '1 minute' as is_use_old
    from api_token t join app_user u on u.id = t.user_id
    where t.id = $1 and t.archived_at is null and coalesce(t.expires_at > now(), true) and u.disabled_at is null`,
};

/**
 * The session or API token in an Authorization header; `null` when it is not valid now. Session, token, user and
 * memberships are read at every request, so that revoking any of them takes effect at once.
 */
export async function authenticate(
  context: Context,
  authorization: string | undefined,
  ip: string,
): Promise<Authenticated | null> {
  if (!authorization?.startsWith('Bearer ')) return null;
  const bearer = authorization.slice('Bearer '.length);
  const token = parseApiToken(bearer);
  if (token) {
    const row = await tokenRow(context, token.id);
    if (!row || !matchesHash(token, row.hash)) return null;
    if (row.is_use_old) await recordTokenUse(context, token.id, ip);
    return presentToken(row, token.id);
  }
  const claims = await verifyAccessToken(context.keys.access, bearer);
  if (!claims) return null;
  return loadSession(context, claims.sessionId, claims.userId);
}

export async function loadSession(context: Context, sessionId: string, userId: number): Promise<Authenticated | null> {
  const { rows } = await context.pg.query<SessionRow>({ ...SESSION, values: [sessionId, userId] });
  const row = rows[0];
  if (!row) return null;
  const app = row.app_id === null ? null : context.config.apps.get(row.app_id);
  // The operator has removed the app from the configuration.
  if (app === undefined) return null;
  return {
    credential: { kind: 'session', id: sessionId },
    session: { id: sessionId, steppedUp: row.stepped_up },
    app: app && { id: app.id },
    user: presentOwner(row),
    memberships: row.relations.map((relation) =>
      membership(
        relation,
        app
          ? permissionsOfApp(app, row.app_permissions, ROLE_PERMISSIONS[relation.role])
          : permissionsOf(relation.role, row.is_employee),
      ),
    ),
  };
}

/** A token's owner and permissions as of now. The caller has checked its secret before. */
export async function loadToken(context: Context, id: number): Promise<Authenticated | null> {
  const row = await tokenRow(context, id);
  return row && presentToken(row, id);
}

interface SessionRow extends OwnerRow {
  stepped_up: boolean;
  app_id: string | null;
  app_permissions: Permission[] | null;
}

interface TokenRow extends OwnerRow {
  hash: Buffer;
  permissions: Permission[] | null;
  expires_at: Date | null;
  is_use_old: boolean;
}

async function tokenRow(context: Context, id: number): Promise<TokenRow | null> {
  const { rows } = await context.pg.query<TokenRow>({ ...TOKEN, values: [id] });
  return rows[0] ?? null;
}

/** A failure to write is only logged: a token that reads still works while the database accepts no writes. */
async function recordTokenUse({ db, log }: Context, id: number, ip: string): Promise<void> {
  try {
    await db
      .updateTable('api_token')
      .set({ last_used_at: sql<Date>`now()`, last_used_ip: ip })
      .where('id', '=', id)
      .execute();
  } catch (error) {
    log.warn({ err: error, apiTokenId: id }, 'the use of an API token could not be noted');
  }
}

function presentToken(row: TokenRow, id: number): Authenticated {
  return {
    credential: { kind: 'token', id, expiresAt: row.expires_at },
    session: NO_SESSION,
    app: null,
    user: presentOwner(row),
    memberships: row.relations.map((relation) =>
      membership(relation, withinToken(permissionsOf(relation.role, row.is_employee), row.permissions)),
    ),
  };
}

/** Reading the session of an API token is a bug: it throws instead of answering a made-up id. */
const NO_SESSION = {
  get id(): string {
    throw new Error('an API token has no session');
  },
  // There is no person to ask for a second factor.
  steppedUp: false,
};

/** A token's permissions: those given to it that its owner still has and that tokens may carry at all. */
function withinToken(held: readonly Permission[], given: readonly Permission[] | null): readonly Permission[] {
  return held.filter((permission) => TOKEN_PERMISSIONS.includes(permission) && (given?.includes(permission) ?? true));
}

function presentOwner(row: OwnerRow): Authenticated['user'] {
  return {
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
    isGettingStarted: row.is_getting_started,
  };
}

function membership(relation: OwnerRow['relations'][number], permissions: readonly Permission[]): Membership {
  return { ...relation, permissions };
}

export function permissionsOf(role: Role, isEmployee: boolean): readonly Permission[] {
  return isEmployee ? [...ROLE_PERMISSIONS[role], 'EMPLOYEE'] : ROLE_PERMISSIONS[role];
}
