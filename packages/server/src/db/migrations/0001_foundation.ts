/** Identity, workspaces, the ledger's first tables, servers, containers, their links and logs. */
export const sql = `
create extension if not exists btree_gist;

create table app_user (
  id integer generated always as identity primary key,
  email text not null unique check (email = lower(email)),
  name text not null,
  password_hash text,
  image text,
  language text,
  theme text not null default 'system',
  is_employee boolean not null default false,
  has_test_mode boolean not null default false,
  signup_form jsonb,
  email_verified_at timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

create table pending_registration (
  id uuid primary key,
  flow text not null unique,
  email text not null,
  name text not null,
  password_hash text not null,
  code_hash text not null,
  tries integer not null default 0,
  sent_at timestamptz not null default now(),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index pending_registration_email on pending_registration (email, created_at desc);
create index pending_registration_expiry on pending_registration (expires_at);

create table workspace (
  id integer generated always as identity primary key,
  name text not null,
  plan text not null default 'Free',
  personal_of integer unique references app_user,
  exhausted_at timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

create table membership (
  workspace_id integer not null references workspace,
  user_id integer not null references app_user,
  role text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index membership_user on membership (user_id, created_at);

create table session (
  id uuid primary key,
  user_id integer not null references app_user,
  auth_type text not null,
  ip text,
  user_agent text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text
);
create index session_of_user on session (user_id);

create table refresh_token (
  id uuid primary key,
  session_id uuid not null references session on delete cascade,
  hash bytea not null unique,
  parent_id uuid references refresh_token on delete cascade,
  used_at timestamptz,
  /* The successor, readable only with this token's own secret, for 10 s after it was used. */
  child_sealed bytea,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index refresh_token_session on refresh_token (session_id);

create table signing_key (
  purpose text primary key,
  public_jwk jsonb not null,
  private_sealed text not null,
  created_at timestamptz not null default now()
);

create table stream_ticket (
  hash bytea primary key,
  session_id uuid not null references session on delete cascade,
  workspace_id integer not null references workspace,
  expires_at timestamptz not null
);

create table idempotency (
  workspace_id integer not null,
  user_id integer not null,
  route text not null,
  key text not null,
  request_hash bytea not null,
  status integer not null,
  body_sealed text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, workspace_id, route, key)
);
create index idempotency_age on idempotency (created_at);

create table mail (
  id integer generated always as identity primary key,
  recipient text not null,
  subject text not null,
  text_body text not null,
  html_body text not null,
  sent_at timestamptz,
  failed_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
);
create index mail_recent on mail (created_at desc);

/* The ledger: append-only, balanced by constraint, balances derived by trigger. */
create table account (
  id bigint generated always as identity primary key,
  code text not null unique,
  client_id integer references workspace,
  currency text not null,
  balance bigint not null default 0,
  min_balance bigint,
  check (min_balance is null or balance >= min_balance)
);
create index account_client on account (client_id);
create table journal (
  id bigint generated always as identity primary key,
  kind text not null,
  idem_key text not null unique,
  lines_hash bytea not null,
  client_id integer references workspace,
  reverses_id bigint unique references journal,
  meta jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp()
);
create index journal_client on journal (client_id, id desc);
create table posting (
  journal_id bigint not null references journal,
  line smallint not null,
  account_id bigint not null references account,
  amount bigint not null check (amount <> 0),
  primary key (journal_id, line)
);
create index posting_account on posting (account_id, journal_id);
create function deny_change() returns trigger language plpgsql as $$ begin raise exception 'append-only table %', tg_table_name; end $$;
create trigger ao before update or delete on posting for each row execute function deny_change();
create trigger ao before update or delete on journal for each row execute function deny_change();
create trigger ao_t before truncate on posting for each statement execute function deny_change();
create trigger ao_t before truncate on journal for each statement execute function deny_change();
create function check_balanced() returns trigger language plpgsql as $$ begin
  if exists (select 1 from posting p join account a on a.id = p.account_id where p.journal_id = new.journal_id
             group by a.currency having sum(p.amount) <> 0 or count(*) < 2)
  then raise exception 'unbalanced journal %', new.journal_id; end if; return null; end $$;
create constraint trigger balanced after insert on posting deferrable initially deferred for each row execute function check_balanced();
create function apply_posting() returns trigger language plpgsql security definer set search_path = public as $$
  begin update account set balance = balance + new.amount where id = new.account_id; return null; end $$;
create trigger apply after insert on posting for each row execute function apply_posting();

create table ssh_key (
  id integer generated always as identity primary key,
  user_id integer not null references app_user,
  title text not null,
  type text not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamptz not null default now(),
  unique (user_id, fingerprint)
);

/* Every move of a status that is allowed; filled from the contract at each start. */
create table status_move (kind text not null, from_status text not null, to_status text not null, primary key (kind, from_status, to_status));
create function check_status_move() returns trigger language plpgsql as $$
declare entity text := tg_argv[0];
begin
  if tg_nargs = 0 then entity := new.kind; end if;
  if new.status is distinct from old.status
     and not exists (select 1 from status_move where kind = entity and from_status = old.status and to_status = new.status)
  then raise exception 'status of % % cannot go from % to %', entity, new.id, old.status, new.status using errcode = 'check_violation'; end if;
  return new; end $$;

create table instance (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  kind text not null check (kind in ('rented', 'self-hosted')),
  slug text not null,
  title text not null,
  created_by integer not null references app_user,
  created_at timestamptz not null default now(),
  closed_at timestamptz,

  status text not null,
  status_since timestamptz not null default now(),
  status_seen_at timestamptz,
  status_deadline timestamptz,
  status_reason text,

  /* What should be. gen counts its changes. */
  desired text not null default 'running' check (desired in ('running', 'stopped', 'gone')),
  gen integer not null default 1,
  reboot_wanted integer not null default 0,
  reboot_done integer not null default 0,

  /* Rented only. */
  provider text,
  offer jsonb,
  provider_ref text,
  machine_state text,
  ip text,
  host_username text,
  price_per_hour bigint,
  stopped_price_per_hour bigint,
  progress jsonb not null default '{}',

  /* The reconcile lease. */
  lock_token uuid,
  lock_expires_at timestamptz,
  next_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  misses integer not null default 0,
  missed_at timestamptz
);
create unique index instance_slug on instance (workspace_id, slug) where closed_at is null;
create index instance_list on instance (workspace_id, kind, created_at desc, id desc);
/* Closed ones pile up; lists without a status show only the others. */
create index instance_open on instance (workspace_id, kind, created_at desc, id desc) where closed_at is null;
create index instance_due on instance (next_at) where next_at is not null;
create index instance_lease on instance (lock_expires_at) where lock_expires_at is not null;
create trigger status_moves before update of status on instance for each row execute function check_status_move();

create table provider_op (
  id uuid primary key,
  instance_id integer not null references instance,
  kind text not null,
  gen integer not null,
  params jsonb not null default '{}',
  state text not null default 'intent' check (state in ('intent', 'done', 'failed')),
  error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index provider_op_instance on provider_op (instance_id, created_at desc);

create table instance_ssh_key (
  instance_id integer not null references instance,
  ssh_key_id integer not null references ssh_key on delete cascade,
  installed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (instance_id, ssh_key_id)
);
create index instance_ssh_key_key on instance_ssh_key (ssh_key_id);

create table instance_activity (
  id integer generated always as identity primary key,
  instance_id integer not null references instance,
  at timestamptz not null default clock_timestamp(),
  kind text not null,
  actor_id integer references app_user,
  from_status text,
  to_status text,
  detail text
);
create index instance_activity_list on instance_activity (instance_id, id desc);

/* The daemon of an instance: its enrolment, its key, and what it said last. */
create table daemon_node (
  instance_id integer primary key references instance,
  enrol_jti text,
  enrol_expires_at timestamptz,
  enrol_used_at timestamptz,
  public_jwk jsonb,
  conn_epoch integer not null default 0,
  connected_at timestamptz,
  disconnected_at timestamptz,
  last_seen_at timestamptz,
  remote_address text,
  version text,
  boot_id text,
  facts jsonb,
  inventory jsonb,
  inventory_at timestamptz,
  desired_gen integer not null default 0,
  revoked_at timestamptz,
  revoked_reason text
);

create table container (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  instance_id integer not null references instance,
  slug text not null,
  title text not null,
  created_by integer not null references app_user,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,

  status text not null,
  status_since timestamptz not null default now(),
  status_seen_at timestamptz,
  status_deadline timestamptz,
  status_reason text,

  desired text not null default 'running' check (desired in ('running', 'stopped', 'absent')),
  gen integer not null default 1,
  image text not null,
  command text,
  cpus numeric(8, 1) not null,
  memory_gb numeric(10, 3),
  gpu_ids integer[] not null default '{}',
  ports jsonb not null default '[]',
  directories jsonb not null default '[]',
  restart_policy text not null default 'no',
  env_names text[] not null default '{}',
  env_sealed text not null,

  docker_id text,
  exit_code integer,
  started_at timestamptz,
  finished_at timestamptz,
  progress jsonb
);
create unique index container_slug on container (slug) where deleted_at is null;
create index container_list on container (workspace_id, created_at desc, id desc) where deleted_at is null;
create index container_instance on container (instance_id) where deleted_at is null;
create index container_deadline on container (status_deadline) where status_deadline is not null;
create trigger status_moves before update of status on container for each row execute function check_status_move('docker-container');

/* One-shot commands to a daemon: stored before they are sent, kept until answered. */
create table daemon_command (
  id uuid primary key,
  instance_id integer not null references instance,
  body jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  answered_at timestamptz,
  ok boolean,
  message text
);
create index daemon_command_open on daemon_command (instance_id) where answered_at is null;

create table log_stream (
  container_id integer not null references container on delete cascade,
  epoch text not null,
  /* The connection of the daemon that may write: an older one, still finishing, may not. */
  owner_epoch integer not null,
  /* Bytes of the encoded stream stored so far. */
  stored_bytes bigint not null default 0,
  last_time_ns bigint,
  records_at_time integer not null default 0,
  /* Bytes of a line whose end has not come yet, by output. */
  open_stdout bytea,
  open_stderr bytea,
  open_stdout_ns bigint,
  open_stderr_ns bigint,
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (container_id, epoch)
);
create table log_line (
  /* No foreign key: checking it costs as much as writing the line, and lines come only with a row of log_stream. */
  container_id integer not null,
  seq bigint not null,
  time_ns bigint not null,
  stderr boolean not null,
  text text not null,
  primary key (container_id, seq)
);
create table log_head (
  container_id integer primary key references container on delete cascade,
  last_seq bigint not null default 0
);
create table log_gap (
  id integer generated always as identity primary key,
  container_id integer not null references container on delete cascade,
  after_seq bigint not null,
  from_ns bigint,
  to_ns bigint,
  reason text not null
);
create index log_gap_container on log_gap (container_id, after_seq);
`;
