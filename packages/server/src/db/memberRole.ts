import pg from 'pg';

/**
 * The role that the calls of people work as (see isolation.ts). Nobody logs in as it: connections take it on when they
 * open. It belongs to the whole server, so that several databases may share it.
 */
export const MEMBER_ROLE = 'stagi_member';

const DENIED = '42501';
/** Somebody else made the role, or gave it, at the same moment. */
const RACES: ReadonlySet<string | undefined> = new Set(['42710', '23505', 'XX000']);
const TRIES = 5;

/** Makes the role unless it is there, and has the user of `client` take it on at will. */
export async function ensureMemberRole(client: pg.Client, role = MEMBER_ROLE): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await makeAndTake(client, role);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      if (error.code === DENIED) throw await helpful(client, role, error);
      if (!RACES.has(error.code) || attempt === TRIES) throw error;
    }
  }
}

async function makeAndTake(client: pg.Client, role: string): Promise<void> {
  const found = await look(client, role);
  if (found?.is_unbound)
    throw new Error(`the role ${role} must be neither a superuser nor one that bypasses row-level security`);
  if (!found) await client.query(`create role ${role} nologin`);
  if (!(found ?? (await look(client, role)))?.can_be_taken) await client.query(`grant ${role} to current_user`);
}

async function look(client: pg.Client, role: string): Promise<{ is_unbound: boolean; can_be_taken: boolean } | null> {
  const { rows } = await client.query<{ is_unbound: boolean; can_be_taken: boolean }>(
    // Since 16 being a member does not say that the role may be taken on.
    `select rolsuper or rolbypassrls as is_unbound, pg_has_role(current_user, oid,
       case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) as can_be_taken
     from pg_roles where rolname = $1`,
    [role],
  );
  return rows[0] ?? null;
}

async function helpful(client: pg.Client, role: string, cause: Error): Promise<Error> {
  const { rows } = await client.query<{ user: string }>('select quote_ident(current_user) as user');
  const orders = [
    (await look(client, role)) ? '' : `create role ${role} nologin; `,
    `grant ${role} to ${rows[0]!.user};`,
  ];
  return new Error(`its user may not make or take on the role ${role}. Let an administrator run: ${orders.join('')}`, {
    cause,
  });
}

/** The same database, for connections that are of the role from their first statement on. */
export function asMember(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const options = [url.searchParams.get('options'), `-c role=${MEMBER_ROLE}`];
  url.searchParams.set('options', options.filter(Boolean).join(' '));
  return url.href;
}

/** A proxy between may have dropped the option that makes connections the role's: nothing is served over such. */
export async function requireMemberRole(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ role: string; is_unbound: boolean }>(
    'select current_user as role, rolsuper or rolbypassrls as is_unbound from pg_roles where rolname = current_user',
  );
  if (rows[0]?.role !== MEMBER_ROLE || rows[0].is_unbound)
    throw new Error(`The database cannot be used: connections to it do not become ${MEMBER_ROLE}`);
}
