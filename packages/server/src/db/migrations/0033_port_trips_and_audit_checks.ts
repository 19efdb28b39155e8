export const sql = `
/* SHA-256 of what the browser keeps that began the way into a port; no browser brings one that is bound to none. */
alter table container_code add column trip_hash bytea;

/* Each time that all chains of the audit log were held against their hashes, and what was found. */
create table audit_check (
  id integer generated always as identity primary key,
  cause text not null check (cause in ('cron', 'operator')),
  asked_by integer references app_user,
  created_at timestamptz not null default clock_timestamp(),
  /* Moves on with each part that was done: who is silent for so long has died. */
  deadline_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  /* The last chain that was held whole; the next worker goes on behind it. */
  behind_chain integer not null default -1,
  chains integer not null default 0,
  chains_to_do integer not null default 0,
  entries bigint not null default 0,
  entries_to_do bigint not null default 0,
  broken_chains integer not null default 0,
  /* The first hundred: {chain, entry}. */
  findings jsonb not null default '[]'
);
/* One at a time. */
create unique index audit_check_open on audit_check ((true)) where ended_at is null;
`;
