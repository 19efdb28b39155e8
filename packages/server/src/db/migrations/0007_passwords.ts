/** What recovery, limits of guessing and the mail about a new device need. */
export const sql = `
/* Also for addresses that nobody has: the answer and the work are the same. */
create table password_reset (
  id uuid primary key,
  flow text not null unique,
  email text not null,
  user_id integer references app_user on delete cascade,
  code_hash text not null,
  tries integer not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index password_reset_email on password_reset (email, created_at desc);
create index password_reset_expiry on password_reset (expires_at);
create index password_reset_user on password_reset (user_id);

/* Browsers that somebody has signed in from, by the hash of their cookie. */
create table known_device (
  user_id integer not null references app_user on delete cascade,
  hash bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (user_id, hash)
);
create index known_device_age on known_device (last_used_at);

/* How often something was tried, and when it may be tried again. Keys are hashes: nobody reads addresses here. */
create table attempt (
  key bytea primary key,
  tries integer not null,
  next_at timestamptz not null,
  last_at timestamptz not null
);
create index attempt_age on attempt (last_at);
`;
