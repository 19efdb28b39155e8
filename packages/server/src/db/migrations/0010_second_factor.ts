/** Second factors (codes of an app, passkeys, recovery codes), what is asked before they open a session, and step-up. */
export const sql = `
/* One app a person: the secret in use, and the one that is being set up beside it. */
create table totp (
  user_id integer primary key references app_user on delete cascade,
  secret_sealed text,
  confirmed_at timestamptz,
  /* The newest time step of which a code was taken: a code works once, and none before it. */
  last_step bigint not null default 0,
  pending_sealed text,
  pending_until timestamptz,
  check ((secret_sealed is null) = (confirmed_at is null))
);

create table recovery_code (
  user_id integer not null references app_user on delete cascade,
  hash bytea not null,
  salt bytea not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (user_id, hash)
);

/* What a passkey knows a person by: random, so that it tells nobody who they are. */
alter table app_user add column passkey_handle bytea unique;

create table passkey (
  id integer generated always as identity primary key,
  user_id integer not null references app_user on delete cascade,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null,
  synced boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkey_user on passkey (user_id);

/* Each is answered once, by whom and for what it was made. */
create table passkey_challenge (
  hash bytea primary key,
  purpose text not null check (purpose in ('sign-in', 'second-factor', 'step-up', 'add')),
  session_id uuid references session on delete cascade,
  ticket_hash bytea,
  expires_at timestamptz not null
);
create index passkey_challenge_expiry on passkey_challenge (expires_at);
create index passkey_challenge_session on passkey_challenge (session_id);

/* Whoever has passed the first factor and is asked for the second. */
create table second_factor_ticket (
  hash bytea primary key,
  user_id integer not null references app_user on delete cascade,
  auth_type text not null check (auth_type in ('email', 'google', 'github')),
  tries integer not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index second_factor_ticket_expiry on second_factor_ticket (expires_at);
create index second_factor_ticket_user on second_factor_ticket (user_id);

/* When the person of a session last showed again who they are. */
alter table session add column stepped_up_at timestamptz;

/* The mailed code for it, of those who have no second factor. */
create table step_up_code (
  session_id uuid primary key references session on delete cascade,
  code_hash text not null,
  tries integer not null default 0,
  sent_at timestamptz not null default now(),
  expires_at timestamptz not null
);
`;
