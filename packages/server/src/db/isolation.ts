import { createHash } from 'node:crypto';
import type pg from 'pg';
import { MEMBER_ROLE } from './memberRole.ts';
import type { Database } from './schema.ts';

type Table = keyof Database;

const OWN = 'workspace_id = current_workspace()';
const CHAINED = 'chain = current_workspace() and chain > 0';
const BILLED = 'client_id = current_workspace()';
/* There is no foreign key: it is one of two tables. */
const OF_OWN_RESOURCE = `case kind when 'instance' then exists (select from instance i where i.id = resource_id)
  else exists (select from storage d where d.id = resource_id) end`;
const OF_OWN_SEGMENT = 'exists (select from segment s where s.id = segment_id)';
const OF_OWN_INSTANCE = 'exists (select from instance i where i.id = instance_id)';
const OF_OWN_BUCKET = 'exists (select from s3_bucket b where b.id = bucket_id)';
const OF_OWN_STORAGE = 'exists (select from storage s where s.id = storage_id)';
const OF_OWN_PROJECT = 'exists (select from project p where p.id = project_id)';
const OF_OWN_TASK = 'exists (select from task t where t.id = task_id)';
const OF_OWN_CONTAINER = 'exists (select from container c where c.id = container_id)';

/**
 * Tables whose rows belong to a workspace. `sees` is the condition for a row of the current workspace. Calls of people
 * see and write only such rows, whatever their queries say. Where a row refers to another one, the policy of that one
 * decides.
 */
export const OF_A_WORKSPACE = {
  workspace: { sees: 'id = current_workspace()' },
  membership: { sees: OWN },
  invite: { sees: OWN },
  api_token: { sees: OWN },
  stream_ticket: { sees: OWN },
  /* Calls outside of a workspace have 0. */
  idempotency: {
    sees: `workspace_id = case current_setting('stagi.workspace', true) when 'none' then 0 else current_workspace() end`,
  },
  account: { sees: BILLED, may: ['select', 'update'] },
  journal: { sees: BILLED, may: ['select', 'insert'] },
  /* The journal is inserted in the same statement, where the policy cannot see it yet. */
  posting: { sees: 'not is_foreign_journal(journal_id)', may: ['select', 'insert'] },
  hold: { sees: OWN, may: ['select', 'insert', 'update'] },
  billing_transaction: { sees: OWN, may: ['select'] },
  billing_transaction_count: { sees: OWN, may: ['select'] },
  segment: { sees: BILLED, writes: `${BILLED} and ${OF_OWN_RESOURCE}`, may: ['select', 'insert', 'update'] },
  segment_charge: { sees: OF_OWN_SEGMENT, may: ['select', 'insert'] },
  segment_refund: { sees: OF_OWN_SEGMENT, may: ['select', 'insert'] },
  usage_day: { sees: BILLED, may: ['select'] },
  workspace_meter: { sees: BILLED, may: ['select', 'insert', 'update'] },
  promo_activation: { sees: OWN, may: ['select', 'insert'] },
  /* Chain 0 belongs to the platform, every other chain to the workspace with its number. */
  audit: { sees: CHAINED, may: ['select', 'insert'] },
  audit_head: { sees: CHAINED, may: ['select'] },
  audit_actor: { sees: CHAINED, may: ['select'] },
  instance: { sees: OWN },
  provider_op: { sees: OF_OWN_INSTANCE },
  instance_ssh_key: { sees: OF_OWN_INSTANCE },
  instance_activity: { sees: OF_OWN_INSTANCE },
  daemon_node: { sees: OF_OWN_INSTANCE },
  daemon_command: { sees: OF_OWN_INSTANCE },
  container: { sees: OWN, writes: `${OWN} and ${OF_OWN_INSTANCE} and (project_id is null or ${OF_OWN_PROJECT})` },
  model_endpoint: {
    sees: OWN,
    writes: `${OWN} and ${OF_OWN_INSTANCE} and (container_id is null or ${OF_OWN_CONTAINER})`,
    may: ['select', 'insert', 'update'],
  },
  container_template: { sees: OWN, may: ['select', 'insert', 'delete'] },
  registry_credential: { sees: OWN },
  usage_sample_15s: { sees: OF_OWN_INSTANCE, may: ['select'] },
  usage_sample_1m: { sees: OF_OWN_INSTANCE, may: ['select'] },
  usage_sample_15m: { sees: OF_OWN_INSTANCE, may: ['select'] },
  container_code: { sees: OF_OWN_CONTAINER },
  container_run: { sees: OF_OWN_CONTAINER },
  log_stream: { sees: OF_OWN_CONTAINER },
  log_line: { sees: OF_OWN_CONTAINER },
  log_head: { sees: OF_OWN_CONTAINER },
  log_gap: { sees: OF_OWN_CONTAINER },
  log_copy: { sees: OF_OWN_CONTAINER, may: ['select'] },
  log_chunk: { sees: OF_OWN_CONTAINER, may: ['select'] },
  /* Buckets and keys of operators have no workspace: calls see nothing of them. */
  s3_bucket: { sees: OWN },
  s3_key: { sees: OWN, writes: `${OWN} and ${OF_OWN_BUCKET}` },
  s3_blob: { sees: OF_OWN_BUCKET },
  s3_object: { sees: OF_OWN_BUCKET },
  s3_upload: { sees: OF_OWN_BUCKET },
  s3_part: { sees: 'exists (select from s3_upload u where u.id = upload_id)' },
  storage: { sees: OWN },
  storage_sample: { sees: OF_OWN_STORAGE, may: ['select'] },
  storage_share: { sees: OF_OWN_STORAGE },
  project: { sees: OWN, may: ['select', 'insert', 'update'] },
  project_import: { sees: OF_OWN_PROJECT, may: ['select', 'insert', 'update'] },
  project_instance: { sees: OF_OWN_PROJECT, writes: `${OF_OWN_PROJECT} and ${OF_OWN_INSTANCE}` },
  project_activity: { sees: OF_OWN_PROJECT, may: ['select', 'insert'] },
  task: {
    sees: OWN,
    writes: `${OWN} and ${OF_OWN_PROJECT} and ${OF_OWN_INSTANCE} and ${OF_OWN_STORAGE}`,
    may: ['select', 'insert', 'update'],
  },
  task_run: {
    sees: OF_OWN_TASK,
    writes: `${OF_OWN_TASK} and (container_id is null or ${OF_OWN_CONTAINER})`,
    may: ['select', 'insert', 'update'],
  },
  task_event: { sees: OF_OWN_TASK, may: ['select', 'insert'] },
  task_favorite: { sees: OF_OWN_TASK },
  terminal_session: {
    sees: OWN,
    writes: `${OWN} and ${OF_OWN_INSTANCE} and (container_id is null or ${OF_OWN_CONTAINER})`,
    may: ['select', 'insert', 'update'],
  },
  task_schedule: {
    sees: OWN,
    writes: `${OWN} and ${OF_OWN_PROJECT} and ${OF_OWN_INSTANCE} and ${OF_OWN_STORAGE}`,
    may: ['select', 'insert', 'update'],
  },
} satisfies Partial<Record<Table, Isolated>>;

export interface Isolated {
  sees: string;
  /** The condition for a written row; the same as `sees` when left out. */
  writes?: string;
  may?: readonly Privilege[];
}

type Privilege = 'select' | 'insert' | 'update' | 'delete';
const EVERYTHING: readonly Privilege[] = ['select', 'insert', 'update', 'delete'];

/** Tables whose rows belong to a person, in whatever workspace. Their queries filter by the person. */
export const OF_A_PERSON: readonly Table[] = [
  'app_user',
  'pending_registration',
  'password_reset',
  'external_identity',
  'provider_trip',
  'known_device',
  'user_picture',
  'email_change',
  'session',
  'oauth_code',
  'refresh_token',
  'totp',
  'recovery_code',
  'passkey',
  'passkey_challenge',
  'second_factor_ticket',
  'step_up_code',
  'ssh_key',
  'feedback',
  'feedback_image',
];

/** Tables of the platform itself, and the privileges that calls of people have on them. */
export const OF_THE_PLATFORM: Partial<
  Record<
    Table | 'migration' | 'installation' | 'journal_kind' | 'journal_flow',
    { why: string; may: readonly Privilege[] }
  >
> = {
  former_address: { why: 'keyed hashes of addresses that nobody has any more', may: EVERYTHING },
  starter_mailbox: { why: 'keyed hashes of mailboxes that have had starter credit', may: EVERYTHING },
  starter_network: { why: 'how much starter credit networks got today, under keyed hashes', may: [] },
  attempt: { why: 'tries, counted under keyed hashes of what was tried', may: EVERYTHING },
  mail: { why: 'what is to be sent; its content is sealed', may: EVERYTHING },
  mail_server: { why: 'what workers last found of the mail server; calls that mail a code ask it', may: ['select'] },
  stored_file: { why: 'random names of pictures and screenshots', may: ['select', 'insert', 'update'] },
  analytics_event: { why: 'visitors’ clicks, on their way out', may: EVERYTHING },
  status_move: { why: 'which moves of a status are allowed; written at start', may: ['select'] },
  journal_kind: { why: 'which journals there are; written at start', may: ['select'] },
  journal_flow: { why: 'what each kind of journal may do; written at start', may: ['select'] },
  ledger_seal: { why: 'seals over all journals', may: [] },
  ledger_run: { why: 'when all journals were looked at, and what was found', may: [] },
  contact_request: { why: 'what visitors wrote to the operators', may: ['select', 'insert'] },
  promo_code: { why: 'codes that operators give out, and how often they were used', may: ['select', 'update'] },
  sign_up_link: {
    why: 'hashes of links that people sign up with, and how often they were used',
    may: ['select', 'update'],
  },
  catalogue_change: { why: 'what operators changed in the catalogue of models', may: ['select'] },
  provider_check: { why: 'what operators asked clouds', may: [] },
  audit_check: { why: 'when all audit logs were looked at, and what was found', may: [] },
  usage_thinning: { why: 'up to when the samples of all servers are thinned', may: ['select'] },
  signing_key: { why: 'read at start', may: [] },
  migration: { why: 'what has been applied; written at start', may: [] },
  installation: { why: 'by what processes know that they belong to this platform; read at start', may: [] },
  unknown_bytes: { why: 'names of bytes that no row knows: for operators alone', may: [] },
  quarantine_place: { why: 'when places of bytes were compared with the rows', may: [] },
  kept_slug: { why: 'Unique IDs of deleted containers, which others may not have', may: [] },
  stray: { why: 'machines that no workspace owns: for operators alone', may: [] },
};

/** Other tables that refer to a workspace, and why their rows do not belong to it. */
export const NAMES_A_WORKSPACE: Partial<Record<Table, string>> = {
  session: 'the one workspace that an app was let into narrows what the session reaches',
  oauth_code: 'the one workspace that an app is to be let into',
  stray: 'the server whose machine it may be; calls see nothing of it',
  kept_slug: 'triggers alone read and write it',
};

/**
 * Updates the policies and privileges in the database to the tables above. Runs after each migration, as any may add a
 * table. Changes only what differs: the comment of a policy holds the fingerprint of its definition.
 */
export async function isolate(client: pg.Client): Promise<void> {
  const { rows: made } = await client.query<{ table: string; fingerprint: string | null }>(
    `select c.relname as "table", obj_description(p.oid, 'pg_policy') as fingerprint
     from pg_policy p join pg_class c on c.oid = p.polrelid
     where c.relnamespace = 'public'::regnamespace and p.polname = 'of_workspace' and c.relrowsecurity and c.relforcerowsecurity`,
  );
  const { rows: user } = await client.query<{ name: string }>('select current_user as name');
  const fingerprintOf = new Map(made.map(({ table, fingerprint }) => [table, fingerprint]));
  for (const [table, { sees, writes = sees }] of Object.entries<Isolated>(OF_A_WORKSPACE)) {
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([sees, writes, MEMBER_ROLE, user[0]!.name]))
      .digest('hex');
    if (fingerprintOf.get(table) === fingerprint) continue;
    // One transaction for each table: waiting for the lock of one blocks no other.
    await client.query(`
      begin;
      set local lock_timeout = '2s';
      alter table ${table} enable row level security;
      alter table ${table} force row level security;
      drop policy if exists of_workspace on ${table};
      create policy of_workspace on ${table} to ${MEMBER_ROLE} using (${sees}) with check (${writes});
      drop policy if exists of_platform on ${table};
      create policy of_platform on ${table} to current_user using (true) with check (true);
      comment on policy of_workspace on ${table} is '${fingerprint}';
      commit`);
  }
  await grant(client);
}

async function grant(client: pg.Client): Promise<void> {
  const wanted = [
    ...Object.entries<Isolated>(OF_A_WORKSPACE).map(([table, { may = EVERYTHING }]) => ({ table, may })),
    ...OF_A_PERSON.map((table) => ({ table, may: EVERYTHING })),
    ...Object.entries(OF_THE_PLATFORM).map(([table, { may }]) => ({ table, may })),
  ].flatMap(({ table, may }) => EVERYTHING.map((privilege) => ({ table, privilege, held: may.includes(privilege) })));
  const { rows: differing } = await client.query<{ table: string; privilege: Privilege; held: boolean }>(
    `select * from json_to_recordset($1) as wanted ("table" text, privilege text, held boolean)
     where has_table_privilege($2, 'public.' || quote_ident("table"), privilege) <> held`,
    [JSON.stringify(wanted), MEMBER_ROLE],
  );
  await client.query(`grant usage on schema public to ${MEMBER_ROLE}`);
  for (const { table, privilege, held } of differing)
    await client.query(
      held ? `grant ${privilege} on ${table} to ${MEMBER_ROLE}` : `revoke ${privilege} on ${table} from ${MEMBER_ROLE}`,
    );
}

/** Calls of people insert jobs in their own transaction; others perform them. */
export async function letEnqueue(client: pg.Client): Promise<void> {
  await client.query(`grant usage on schema pgboss to ${MEMBER_ROLE}`);
  await client.query(`grant select, insert on all tables in schema pgboss to ${MEMBER_ROLE}`);
}
