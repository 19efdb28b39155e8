import pg from 'pg';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/configError.ts';
import { memberUrl, requireMemberRole } from '../db/memberRole.ts';
import { MIGRATIONS } from '../db/migrate.ts';
import { hasCluster } from '../installation/dataFolder.ts';
import { refuseSecondDatabase, requireOwnInstallation } from '../installation/open.ts';
import { isNew } from '../installation/row.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const ABOUT = 'Database';
const CONNECT_MS = 10_000;
const LEAST_VERSION = 15;
/** A process has more than its two pools: the pool of the job queue, the listener, the leases. */
const FURTHER_CONNECTIONS = 8;
const CLOCK_WARNING_S = 2;
const CLOCK_PROBLEM_S = 30;

/** Looks into the database without changing it. An embedded one is not started for this. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  if (!config.databaseUrl) return [embedded(config)];
  const client = new pg.Client({ connectionString: config.databaseUrl, connectionTimeoutMillis: CONNECT_MS });
  // It may be lost between two questions; the next one then tells.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    return [problem(ABOUT, `cannot be reached: ${reasonOf(error)}. Check DATABASE_URL and that PostgreSQL runs there`)];
  }
  try {
    return await look(client, config);
  } catch (error) {
    return [problem(ABOUT, reasonOf(error))];
  } finally {
    await client.end();
  }
}

function embedded(config: Config): Finding {
  try {
    refuseSecondDatabase(config);
  } catch (error) {
    if (error instanceof ConfigError) return problem(ABOUT, error.message);
    throw error;
  }
  const place = `in ${config.dataDir}/postgres`;
  return ok(ABOUT, hasCluster(config) ? `a PostgreSQL of its own ${place}` : `the first start makes one ${place}`);
}

interface Facts {
  version: number;
  versionName: string;
  name: string;
  user: string;
  encoding: string;
  mayCreate: boolean;
  connections: number;
  clock: number;
}

async function look(client: pg.Client, config: Config): Promise<Finding[]> {
  const before = Date.now();
  const { rows } = await client.query<Facts>(
    `select current_setting('server_version_num')::int / 10000 as version,
       current_setting('server_version') as "versionName", current_database() as name, current_user as user,
       current_setting('server_encoding') as encoding,
       has_database_privilege(current_database(), 'create') as "mayCreate",
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections,
       extract(epoch from clock_timestamp())::float8 as clock`,
  );
  const facts = rows[0]!;
  const { version, versionName, name, user, encoding, mayCreate } = facts;
  if (version < LEAST_VERSION)
    return [problem(ABOUT, `is PostgreSQL ${versionName}: it must be ${LEAST_VERSION} or later`)];
  const found = [ok(ABOUT, `PostgreSQL ${versionName}, database ${name}, user ${user}`)];
  if (encoding !== 'UTF8') found.push(problem(ABOUT, `its encoding is ${encoding}: it must be UTF8`));
  if (!mayCreate) found.push(problem(ABOUT, `its user may make no schemas: alter database ${name} owner to ${user};`));
  found.push(...connections(facts, config), ...clocks(facts.clock - (before + Date.now()) / 2_000));
  found.push(await schema(client, config));
  return found;
}

function connections({ connections: most }: Facts, { databaseConnections }: Config): Finding[] {
  const ofProcess = 2 * databaseConnections + FURTHER_CONNECTIONS;
  const processes = Math.floor(most / ofProcess);
  const says = `at most ${most} connections: enough for ${processes} processes, each of which may take ${ofProcess}`;
  return processes >= 3 ? [] : [warning(ABOUT, `${says}. Raise max_connections, or lower DATABASE_CONNECTIONS`)];
}

function clocks(ahead: number): Finding[] {
  const off = Math.abs(ahead);
  if (off < CLOCK_WARNING_S) return [];
  const says = `its clock and this machine's are ${off.toFixed(0)} s apart: let both follow a time server`;
  return [(off < CLOCK_PROBLEM_S ? warning : problem)('Clock', says)];
}

async function schema(client: pg.Client, config: Config): Promise<Finding> {
  if (await isNew(client)) return ok('Schema', 'none yet: the first start makes it');
  const { rows } = await client.query<{ name: string }>('select name from migration');
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const newer = rows.filter(({ name }) => !known.has(name));
  if (newer.length > 0) return problem('Schema', 'is of a newer version of Stagi: install that one, or a later one');
  await requireOwnInstallation(client, config);
  await requireRole(config.databaseUrl!);
  const missing = known.size - rows.length;
  return ok('Schema', missing === 0 ? 'up to date' : `the next start brings it up to date, by ${missing} steps`);
}

async function requireRole(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: memberUrl(databaseUrl), max: 1, connectionTimeoutMillis: CONNECT_MS });
  pool.on('error', () => {});
  try {
    await requireMemberRole(pool);
  } finally {
    await pool.end();
  }
}
