/** Who holds a lease, and machines that no open server owns. */
export const sql = `
/* A number that the working process holds an advisory lock on: who holds none any more has died. */
alter table instance add column lock_owner integer;
/* Only where it is not stagi-<environment>-<id>: a machine that was adopted keeps its name. */
alter table instance add column machine_name text;
create index instance_machine on instance (provider, provider_ref) where closed_at is null and provider_ref is not null;
create index provider_op_open on provider_op (created_at) where state = 'intent';

create table stray (
  id integer generated always as identity primary key,
  provider text not null,
  ref text not null,
  name text not null,
  tags jsonb not null,
  state text not null,
  ip text,
  /* closed: its server is closed; unknown: there never was one; second: its server has another machine. */
  reason text not null check (reason in ('closed', 'unknown', 'second')),
  instance_id integer references instance,
  first_seen_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  /* Looks in a row that did not show it. */
  missed integer not null default 0,
  decision text check (decision in ('adopt', 'delete')),
  decided_by integer references app_user,
  decided_at timestamptz,
  /* How often its cloud was told to delete it. */
  deletions integer not null default 0,
  last_error text,
  gone_at timestamptz
);
create unique index stray_open on stray (provider, ref) where gone_at is null;
create index stray_list on stray (first_seen_at desc, id desc);
`;
