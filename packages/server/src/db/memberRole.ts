import pg from 'pg';

/**
 * The database role of the calls of people (see isolation.ts). It cannot log in: connections switch to it when they open.
 * Roles belong to the whole server, so several databases may share it.
 */
export const MEMBER_ROLE = 'stagi_member';

const INSUFFICIENT_PRIVILEGE = '42501';
/** Errors when another process creates or grants the role at the same moment. */
const CONCURRENT_CREATION: ReadonlySet<string | undefined> = new Set(['42710', '23505', 'XX000']);
const MAX_ATTEMPTS = 5;

/** Creates the role if it is missing, and lets the user of `client` switch to it. */
export async function ensureMemberRole(client: pg.Client, role = MEMBER_ROLE): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await createAndGrant(client, role);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      if (error.code === INSUFFICIENT_PRIVILEGE) throw await explainDenied(client, role, error);
      if (!CONCURRENT_CREATION.has(error.code) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function createAndGrant(client: pg.Client, role: string): Promise<void> {
  const found = await findRole(client, role);
  if (found?.is_unbound)
    throw new Error(`the role ${role} must be neither a superuser nor one that bypasses row-level security`);
  if (!found) await client.query(`create role ${role} nologin`);
  if (!(found ?? (await findRole(client, role)))?.can_be_taken) await client.query(`grant ${role} to current_user`);
}

async function findRole(
  client: pg.Client,
  role: string,
): Promise<{ is_unbound: boolean; can_be_taken: boolean } | null> {
  const { rows } = await client.query<{ is_unbound: boolean; can_be_taken: boolean }>(
    // Since PostgreSQL 16 membership alone does not allow SET ROLE.
    `select rolsuper or rolbypassrls as is_unbound, pg_has_role(current_user, oid,
       case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) as can_be_taken
     from pg_roles where rolname = $1`,
    [role],
  );
  return rows[0] ?? null;
}

async function explainDenied(client: pg.Client, role: string, cause: Error): Promise<Error> {
  const { rows } = await client.query<{ user: string }>('select quote_ident(current_user) as user');
  const orders = [
    (await findRole(client, role)) ? '' : `create role ${role} nologin; `,
    `grant ${role} to ${rows[0]!.user};`,
  ];
  return new Error(`its user may not make or take on the role ${role}. Let an administrator run: ${orders.join('')}`, {
    cause,
  });
}

/** The URL of the same database for connections that have the role from their first statement on. */
export function memberUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const options = [url.searchParams.get('options'), `-c role=${MEMBER_ROLE}`];
  url.searchParams.set('options', options.filter(Boolean).join(' '));
  return url.href;
}

/** Throws when connections do not get the role: a proxy may drop the option that sets it. */
export async function requireMemberRole(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ role: string; is_unbound: boolean }>(
    'select current_user as role, rolsuper or rolbypassrls as is_unbound from pg_roles where rolname = current_user',
  );
  if (rows[0]?.role !== MEMBER_ROLE || rows[0].is_unbound)
    throw new Error(`The database cannot be used: connections to it do not become ${MEMBER_ROLE}`);
}
