/** What servers cost, second by second: intervals of one price each, what was charged for them, and a balance of zero. */
export const sql = `
/* Only the database's clock bills; a function of its own, so that a test can let it jump. */
create function metering_clock() returns timestamptz language sql volatile as 'select clock_timestamp()';

create table segment (
  id bigint generated always as identity primary key,
  client_id integer not null references workspace,
  instance_id integer not null references instance,
  rate text not null check (rate in ('running', 'stopped')),
  price_per_hour bigint not null check (price_per_hour >= 0),
  /* Half an hour of it, where its cloud cannot stop it: what it takes to leave in order. */
  reserve bigint not null default 0,
  started_at timestamptz not null,
  ended_at timestamptz,
  metered_until timestamptz not null,
  /* Micro-STAGI. What was taken from the accounts, and what they did not hold any more. */
  charged bigint not null default 0 check (charged >= 0),
  uncollected bigint not null default 0 check (uncollected >= 0),
  /* Of these, given back and forgiven again: the interval turned out shorter, or was never one. */
  refunded bigint not null default 0 check (refunded between 0 and charged),
  forgiven bigint not null default 0 check (forgiven between 0 and uncollected),
  /* Its machine was of use: until then all of it is given back when there comes nothing of it. */
  confirmed boolean not null,
  voided boolean not null default false,
  settled boolean not null default false,
  check (ended_at >= started_at),
  check (metered_until >= started_at),
  check (not settled or ended_at is not null),
  exclude using gist (instance_id with =, tstzrange(started_at, coalesce(ended_at, 'infinity')) with &&)
) with (fillfactor = 60);
create index segment_unsettled on segment (client_id, id) where not settled;
create unique index segment_open on segment (instance_id) where ended_at is null;
/* Looked for at every look at a server: there is hardly ever one. */
create index segment_unconfirmed on segment (instance_id) where not confirmed and not voided;
create index segment_history on segment (client_id, started_at desc, id desc);

/* A line of a usage journal: the parts of one interval by account, and where it stands after it. */
create table segment_charge (
  segment_id bigint not null references segment,
  until timestamptz not null,
  journal_id bigint not null references journal,
  credit bigint not null check (credit >= 0),
  card bigint not null check (card >= 0),
  onchain bigint not null check (onchain >= 0),
  uncollected bigint not null check (uncollected >= 0),
  charged_total bigint not null,
  uncollected_total bigint not null,
  primary key (segment_id, until)
);
create index segment_charge_journal on segment_charge (journal_id);
/* What was given back of one interval, each part to the account that it came from. */
create table segment_refund (
  segment_id bigint primary key references segment,
  at timestamptz not null,
  journal_id bigint not null unique references journal,
  credit bigint not null check (credit >= 0),
  card bigint not null check (card >= 0),
  onchain bigint not null check (onchain >= 0),
  forgiven bigint not null check (forgiven >= 0)
);
create trigger ao before update or delete on segment_charge for each row execute function deny_change();
create trigger ao_t before truncate on segment_charge for each statement execute function deny_change();
create trigger ao before update or delete on segment_refund for each row execute function deny_change();
create trigger ao_t before truncate on segment_refund for each statement execute function deny_change();

/* The sums of these lines by server and day (UTC, of \`until\`), kept in the same transactions. */
create table usage_day (
  client_id integer not null references workspace,
  day date not null,
  instance_id integer not null references instance,
  micros bigint not null default 0,
  charged bigint not null default 0,
  uncollected bigint not null default 0,
  refunded bigint not null default 0,
  forgiven bigint not null default 0,
  last_at timestamptz not null,
  primary key (client_id, day, instance_id)
) with (fillfactor = 60);

/* Where the metering of a workspace stands. Locked with its accounts, before its segments. */
create table workspace_meter (
  client_id integer primary key references workspace,
  journals bigint not null default 0,
  metered_at timestamptz not null,
  /* The last notice of a zero balance that was mailed: 0 none. */
  notices smallint not null default 0,
  /* Whether a credit that ended a zero balance starts again all that it stopped, or somebody has chosen. */
  resumes_all boolean not null default true
);

alter table instance
  /* When its cloud showed it running last: its bill ends there if it was lost. */
  add column running_seen_at timestamptz,
  /* Since when the balance of zero holds it, or waits to: a credit starts it again. */
  add column zero_stopped_at timestamptz;
create index instance_zero on instance (workspace_id) where zero_stopped_at is not null and closed_at is null;
create index workspace_exhausted on workspace (exhausted_at) where exhausted_at is not null;
/* Servers of before there were segments. */
update instance set running_seen_at = clock_timestamp() where kind = 'rented' and closed_at is null and machine_state = 'running';
insert into segment (client_id, instance_id, rate, price_per_hour, started_at, metered_until, confirmed)
select workspace_id, id, case when status in ('stopped', 'powering off') then 'stopped' else 'running' end,
  case when status in ('stopped', 'powering off') then coalesce(stopped_price_per_hour, 0) else coalesce(price_per_hour, 0) end, now(), now(), true
from instance where kind = 'rented' and closed_at is null
  and status in ('online', 'rebooting', 'unresponsive', 'powering on', 'stopped', 'powering off');
insert into workspace_meter (client_id, metered_at) select distinct client_id, now() from segment;
`;
