import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { VERSION } from '../config/version.ts';
import { hasTable } from './hasTable.ts';
import { isolate, letEnqueue } from './isolation.ts';
import { JOURNAL_KINDS } from './journalKinds.ts';
import { ensureMemberRole } from './memberRole.ts';
import * as foundation from './migrations/0001_foundation.ts';
import * as reconcile from './migrations/0002_reconcile.ts';
import * as nodeKeys from './migrations/0003_node_keys.ts';
import * as operations from './migrations/0004_operations.ts';
import * as feedback from './migrations/0005_feedback.ts';
import * as indexes from './migrations/0006_indexes.ts';
import * as passwords from './migrations/0007_passwords.ts';
import * as sessionEnds from './migrations/0008_session_ends.ts';
import * as externalIdentities from './migrations/0009_external_identities.ts';
import * as secondFactor from './migrations/0010_second_factor.ts';
import * as account from './migrations/0011_account.ts';
import * as apiTokens from './migrations/0012_api_tokens.ts';
import * as members from './migrations/0013_members.ts';
import * as apps from './migrations/0014_apps.ts';
import * as strangersTries from './migrations/0015_strangers_tries.ts';
import * as audit from './migrations/0016_audit.ts';
import * as invites from './migrations/0017_invites.ts';
import * as operators from './migrations/0018_operators.ts';
import * as ledger from './migrations/0022_ledger.ts';
import * as metering from './migrations/0023_metering.ts';
import * as providerChecks from './migrations/0024_provider_checks.ts';
import * as ledgerEnd from './migrations/0025_ledger_end.ts';
import * as transactionsOfUse from './migrations/0026_transactions_of_use.ts';
import * as isolation from './migrations/0030_isolation.ts';
import * as memberLists from './migrations/0031_member_lists.ts';
import * as logSearch from './migrations/0032_log_search.ts';
import * as portTripsAndAuditChecks from './migrations/0033_port_trips_and_audit_checks.ts';
import * as membersAlone from './migrations/0035_members_alone.ts';
import * as leftAtZero from './migrations/0036_left_at_zero.ts';
import * as usageDays from './migrations/0037_usage_days.ts';
import * as foundAmongFew from './migrations/0038_found_among_few.ts';
import * as adopted from './migrations/0039_adopted.ts';
import * as namesFollow from './migrations/0040_names_follow.ts';
import * as skipIndexes from './migrations/0041_skip_indexes.ts';
import * as searchWithoutCopies from './migrations/0042_search_without_copies.ts';
import * as useThatWasPaid from './migrations/0043_use_that_was_paid.ts';
import * as ledgerEndWithoutQueue from './migrations/0044_ledger_end_without_queue.ts';
import * as gettingStarted from './migrations/0045_getting_started.ts';
import * as runsAndRetries from './migrations/0046_runs_and_retries.ts';
import * as storages from './migrations/0047_storages.ts';
import * as billedResources from './migrations/0048_billed_resources.ts';
import * as files from './migrations/0049_files.ts';
import * as logBuckets from './migrations/0050_log_buckets.ts';
import * as projects from './migrations/0051_projects.ts';
import * as sshKeyHolders from './migrations/0052_ssh_key_holders.ts';
import * as tasks from './migrations/0053_tasks.ts';
import * as taskPlaces from './migrations/0054_task_places.ts';
import * as boundPorts from './migrations/0055_bound_ports.ts';
import * as terminals from './migrations/0056_terminals.ts';
import * as usageSamples from './migrations/0057_usage_samples.ts';
import * as containerEdits from './migrations/0058_container_edits.ts';
import * as templatesAndRegistries from './migrations/0059_templates_and_registries.ts';
import * as contact from './migrations/0060_contact.ts';
import * as catalogue from './migrations/0061_catalogue.ts';
import * as modelEndpoints from './migrations/0062_model_endpoints.ts';
import * as keptSlugs from './migrations/0063_kept_slugs.ts';
import * as endsOfKeys from './migrations/0064_ends_of_keys.ts';
import * as serversOfRegistries from './migrations/0065_servers_of_registries.ts';
import * as protections from './migrations/0066_protections.ts';
import * as planCounts from './migrations/0067_plan_counts.ts';
import * as countedBytes from './migrations/0068_counted_bytes.ts';
import * as starterCredit from './migrations/0069_starter_credit.ts';
import * as restarts from './migrations/0070_restarts.ts';
import * as endpointChecks from './migrations/0071_endpoint_checks.ts';
import * as stopGrace from './migrations/0085_stop_grace.ts';
import * as launch from './migrations/0086_launch.ts';
import * as installation from './migrations/0087_installation.ts';
import * as unknownBytes from './migrations/0088_unknown_bytes.ts';
import * as backups from './migrations/0089_backups.ts';
import * as mailServer from './migrations/0090_mail_server.ts';
import * as openIdProviders from './migrations/0091_openid_providers.ts';
import * as planQuotas from './migrations/0092_plan_quotas.ts';
import * as signUpLinks from './migrations/0093_sign_up_links.ts';
import { STATUS_MOVES } from './statusMoves.ts';

export const MIGRATIONS: readonly { name: string; sql: string }[] = [
  { name: '0001_foundation', sql: foundation.sql },
  { name: '0002_reconcile', sql: reconcile.sql },
  { name: '0003_node_keys', sql: nodeKeys.sql },
  { name: '0004_operations', sql: operations.sql },
  { name: '0005_feedback', sql: feedback.sql },
  { name: '0006_indexes', sql: indexes.sql },
  { name: '0007_passwords', sql: passwords.sql },
  { name: '0008_session_ends', sql: sessionEnds.sql },
  { name: '0009_external_identities', sql: externalIdentities.sql },
  { name: '0010_second_factor', sql: secondFactor.sql },
  { name: '0011_account', sql: account.sql },
  { name: '0012_api_tokens', sql: apiTokens.sql },
  { name: '0013_members', sql: members.sql },
  { name: '0014_apps', sql: apps.sql },
  { name: '0015_strangers_tries', sql: strangersTries.sql },
  { name: '0016_audit', sql: audit.sql },
  { name: '0017_invites', sql: invites.sql },
  { name: '0018_operators', sql: operators.sql },
  { name: '0022_ledger', sql: ledger.sql },
  { name: '0023_metering', sql: metering.sql },
  { name: '0024_provider_checks', sql: providerChecks.sql },
  { name: '0025_ledger_end', sql: ledgerEnd.sql },
  { name: '0026_transactions_of_use', sql: transactionsOfUse.sql },
  { name: '0030_isolation', sql: isolation.sql },
  { name: '0031_member_lists', sql: memberLists.sql },
  { name: '0032_log_search', sql: logSearch.sql },
  { name: '0033_port_trips_and_audit_checks', sql: portTripsAndAuditChecks.sql },
  { name: '0035_members_alone', sql: membersAlone.sql },
  { name: '0036_left_at_zero', sql: leftAtZero.sql },
  { name: '0037_usage_days', sql: usageDays.sql },
  { name: '0038_found_among_few', sql: foundAmongFew.sql },
  { name: '0039_adopted', sql: adopted.sql },
  { name: '0040_names_follow', sql: namesFollow.sql },
  { name: '0041_skip_indexes', sql: skipIndexes.sql },
  { name: '0042_search_without_copies', sql: searchWithoutCopies.sql },
  { name: '0043_use_that_was_paid', sql: useThatWasPaid.sql },
  { name: '0044_ledger_end_without_queue', sql: ledgerEndWithoutQueue.sql },
  { name: '0045_getting_started', sql: gettingStarted.sql },
  { name: '0046_runs_and_retries', sql: runsAndRetries.sql },
  { name: '0047_storages', sql: storages.sql },
  { name: '0048_billed_resources', sql: billedResources.sql },
  { name: '0049_files', sql: files.sql },
  { name: '0050_log_buckets', sql: logBuckets.sql },
  { name: '0051_projects', sql: projects.sql },
  { name: '0052_ssh_key_holders', sql: sshKeyHolders.sql },
  { name: '0053_tasks', sql: tasks.sql },
  { name: '0054_task_places', sql: taskPlaces.sql },
  { name: '0055_bound_ports', sql: boundPorts.sql },
  { name: '0056_terminals', sql: terminals.sql },
  { name: '0057_usage_samples', sql: usageSamples.sql },
  { name: '0058_container_edits', sql: containerEdits.sql },
  { name: '0059_templates_and_registries', sql: templatesAndRegistries.sql },
  { name: '0060_contact', sql: contact.sql },
  { name: '0061_catalogue', sql: catalogue.sql },
  { name: '0062_model_endpoints', sql: modelEndpoints.sql },
  { name: '0063_kept_slugs', sql: keptSlugs.sql },
  { name: '0064_ends_of_keys', sql: endsOfKeys.sql },
  { name: '0065_servers_of_registries', sql: serversOfRegistries.sql },
  { name: '0066_protections', sql: protections.sql },
  { name: '0067_plan_counts', sql: planCounts.sql },
  { name: '0068_counted_bytes', sql: countedBytes.sql },
  { name: '0069_starter_credit', sql: starterCredit.sql },
  { name: '0070_restarts', sql: restarts.sql },
  { name: '0071_endpoint_checks', sql: endpointChecks.sql },
  { name: '0085_stop_grace', sql: stopGrace.sql },
  { name: '0086_launch', sql: launch.sql },
  { name: '0087_installation', sql: installation.sql },
  { name: '0088_unknown_bytes', sql: unknownBytes.sql },
  { name: '0089_backups', sql: backups.sql },
  { name: '0090_mail_server', sql: mailServer.sql },
  { name: '0091_openid_providers', sql: openIdProviders.sql },
  { name: '0092_plan_quotas', sql: planQuotas.sql },
  { name: '0093_sign_up_links', sql: signUpLinks.sql },
];
const ADVISORY_LOCK = 7_239_001;

/** A migration that was new to the database. */
export interface Migrated {
  name: string;
  ms: number;
}

/** Both run under the lock. What `before` throws leaves the database as it is. */
export interface AroundMigration {
  before?(client: pg.Client): Promise<void>;
  after?(client: pg.Client, applied: readonly Migrated[]): Promise<void>;
}

/** The database was migrated by a newer version, whose rows this one would not understand. */
export class NewerDatabase extends Error {}

/**
 * Migrates a database to this version: each migration once, in its own transaction, under an advisory
 * lock so that processes that start together do not race. Also applies isolation.ts and creates the job queue's tables.
 * Answers which migrations were new. Throws `NewerDatabase`.
 */
export async function migrate(databaseUrl: string, around: AroundMigration = {}): Promise<Migrated[]> {
  const client = await connect(databaseUrl);
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    refuseNewer(await migrationsIn(client));
    await around.before?.(client);
    const applied = await applyMissing(client, MIGRATIONS);
    await inOneTransaction(client, () => writeStatusMoves(client));
    await inOneTransaction(client, () => writeJournalKinds(client));
    await isolate(client);
    await createQueueTables(databaseUrl);
    await inOneTransaction(client, () => letEnqueue(client));
    await around.after?.(client, applied);
    return applied;
  } finally {
    await client.end();
  }
}

/**
 * Gives an empty database the tables that it had after these migrations, to be filled from a backup. Those that it has
 * already are not run again. Throws `NewerDatabase` for a name that this version does not know.
 */
export async function applyMigrations(databaseUrl: string, names: readonly string[]): Promise<void> {
  const client = await connect(databaseUrl);
  try {
    refuseNewer(new Set(names));
    await applyMissing(
      client,
      MIGRATIONS.filter(({ name }) => names.includes(name)),
    );
  } finally {
    await client.end();
  }
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'stagi-migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  return client;
}

async function applyMissing(client: pg.Client, wanted: typeof MIGRATIONS): Promise<Migrated[]> {
  await ensureMemberRole(client);
  await client.query(
    'create table if not exists migration (name text primary key, applied_at timestamptz not null default now())',
  );
  const known = await migrationsIn(client);
  const applied: Migrated[] = [];
  for (const migration of wanted) if (!known.has(migration.name)) applied.push(await apply(client, migration));
  return applied;
}

async function migrationsIn(client: pg.Client): Promise<ReadonlySet<string>> {
  if (!(await hasTable(client, 'migration'))) return new Set();
  const { rows } = await client.query<{ name: string }>('select name from migration');
  return new Set(rows.map(({ name }) => name));
}

function refuseNewer(known: ReadonlySet<string>): void {
  const own = new Set(MIGRATIONS.map(({ name }) => name));
  const unknown = [...known].filter((name) => !own.has(name)).sort();
  if (unknown.length > 0)
    throw new NewerDatabase(
      `The database was migrated by a newer version than ${VERSION} (${unknown.join(', ')}): start that version, ` +
        'or restore a backup of before the upgrade',
    );
}

async function apply(client: pg.Client, { name, sql }: (typeof MIGRATIONS)[number]): Promise<Migrated> {
  const start = performance.now();
  await inOneTransaction(client, async () => {
    await client.query(sql);
    await client.query('insert into migration (name) values ($1)', [name]);
  });
  return { name, ms: Math.round(performance.now() - start) };
}

async function writeStatusMoves(client: pg.Client): Promise<void> {
  const rows = STATUS_MOVES.flatMap(({ kind, moves }) =>
    Object.entries(moves).flatMap(([from, targets]) => targets.map((to) => ({ kind, from, to }))),
  );
  await client.query('delete from status_move');
  await client.query(
    'insert into status_move (kind, from_status, to_status) select * from unnest($1::text[], $2::text[], $3::text[])',
    [rows.map((row) => row.kind), rows.map((row) => row.from), rows.map((row) => row.to)],
  );
}

async function writeJournalKinds(client: pg.Client): Promise<void> {
  const kinds = Object.entries(JOURNAL_KINDS);
  const flows = kinds.flatMap(([kind, { from, to }]) => [
    ...from.map((account) => ({ kind, account, sign: -1 })),
    ...to.map((account) => ({ kind, account, sign: 1 })),
  ]);
  await client.query(
    `insert into journal_kind (kind, shown_as, reversible) select * from unnest($1::text[], $2::text[], $3::boolean[])
     on conflict (kind) do update set shown_as = excluded.shown_as, reversible = excluded.reversible`,
    [
      kinds.map(([kind]) => kind),
      kinds.map(([, { shownAs }]) => shownAs),
      kinds.map(([, { reversible }]) => reversible),
    ],
  );
  await client.query('delete from journal_flow');
  await client.query(
    'insert into journal_flow (kind, account_class, sign) select * from unnest($1::text[], $2::text[], $3::smallint[])',
    [flows.map(({ kind }) => kind), flows.map(({ account }) => account), flows.map(({ sign }) => sign)],
  );
}

async function inOneTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await client.query("set local lock_timeout = '2s'");
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function createQueueTables(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false, max: 2 });
  await boss.start();
  await boss.stop({ graceful: false });
}
