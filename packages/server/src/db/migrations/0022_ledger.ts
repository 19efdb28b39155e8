/**
 * The ledger refuses by itself whatever would make it wrong: a journal of no kind, a flow that its kind does not have,
 * lines that do not balance, that are not those its hash was made of, that come later than it, another workspace's
 * accounts; a balance that is written rather than booked; any change. Holds, seals, runs of the verifier; promo codes;
 * what a workspace sees as its transactions, kept in the same transaction as what it shows.
 */
export const sql = `
create table journal_kind (kind text primary key, shown_as text, reversible boolean not null);
create table journal_flow (
  kind text not null references journal_kind,
  account_class text not null,
  sign smallint not null check (sign in (-1, 1)),
  primary key (kind, account_class, sign)
);
insert into journal_kind (kind, shown_as, reversible)
select kind, 'Deposit', true from (select distinct kind from journal union select 'starter') k
union all select 'reversal', null, false;

/* workspace:7:credit is credit, revenue:usage:3 is revenue:usage. */
alter table account add column class text not null
  generated always as (regexp_replace(regexp_replace(code, '^workspace:\\d+:', ''), ':\\d+$', '')) stored;

create function lines_hash_of(journal bigint) returns bytea language sql stable as $$
  select sha256(convert_to(string_agg(a.code || ':' || p.amount || E'\\n', '' order by p.line), 'UTF8'))
  from posting p join account a on a.id = p.account_id where p.journal_id = journal
$$;

alter table journal disable trigger ao;
alter table journal add column line_count smallint, add column hash bytea;
create function journal_hash(j journal) returns bytea language sql immutable as $$
  select sha256(convert_to(jsonb_build_array(j.id, j.kind, j.idem_key, encode(j.lines_hash, 'hex'), j.line_count,
    j.client_id, j.reverses_id, j.meta, (extract(epoch from j.created_at) * 1000000)::bigint)::text, 'UTF8'))
$$;
update journal j set line_count = (select count(*) from posting p where p.journal_id = j.id), lines_hash = lines_hash_of(j.id);
update journal j set hash = journal_hash(j);
alter table journal enable trigger ao;
alter table journal alter column line_count set not null, alter column hash set not null,
  add check (line_count >= 2), add foreign key (kind) references journal_kind;

create function seal_journal() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.kind = 'reversal' then
    if not exists (select 1 from journal j join journal_kind k using (kind) where j.id = new.reverses_id and k.reversible)
    then raise exception 'journal % cannot be reversed', new.reverses_id using errcode = 'check_violation'; end if;
  elsif new.reverses_id is not null then
    raise exception 'only a reversal reverses' using errcode = 'check_violation';
  end if;
  new.hash := journal_hash(new);
  return new;
end $$;
create trigger seal before insert on journal for each row execute function seal_journal();

drop trigger balanced on posting;
drop trigger apply on posting;
drop function check_balanced();
drop function apply_posting();

/* All lines of a journal come in one statement, with it. */
create function book_postings() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare wrong text;
begin
  with lines as materialized (
    select j.id, j.kind, j.client_id, j.line_count, j.lines_hash, j.reverses_id, p.line, p.amount, p.account_id,
      a.code, a.class, a.currency, a.client_id as owner
    from (select distinct journal_id from booked) b join journal j on j.id = b.journal_id
      join posting p on p.journal_id = j.id join account a on a.id = p.account_id
  ) select coalesce(
    (select 'journal ' || id || ' does not balance' from lines group by id, currency having sum(amount) <> 0 limit 1),
    (select 'journal ' || id || ' has other lines than it was made of' from lines group by id, line_count, lines_hash
      having count(*) <> line_count
        or lines_hash <> sha256(convert_to(string_agg(code || ':' || amount || E'\\n', '' order by line), 'UTF8')) limit 1),
    (select 'journal ' || id || ' of kind ' || kind || ' has nothing to do with ' || code from lines
      where kind <> 'reversal' and not exists (select 1 from journal_flow f
        where f.kind = lines.kind and f.account_class = lines.class and f.sign = sign(lines.amount)) limit 1),
    (select 'journal ' || id || ' is not about the workspace of ' || code from lines
      where owner is not null and owner is distinct from client_id limit 1),
    (select 'journal ' || id || ' does not undo journal ' || reverses_id from lines
      where reverses_id is not null and not exists (select 1 from posting o
        where o.journal_id = reverses_id and o.line = lines.line and o.account_id = lines.account_id and o.amount = -lines.amount)
      limit 1)
  ) into wrong;
  if wrong is not null then raise exception '%', wrong using errcode = 'check_violation'; end if;
  /* In the order of their numbers, so that two journals never wait for each other. */
  perform 1 from account where id in (select account_id from booked) order by id for no key update;
  update account a set balance = a.balance + b.amount
  from (select account_id, sum(amount) as amount from booked group by account_id) b where a.id = b.account_id;
  return null;
end $$;
create trigger book after insert on posting referencing new table as booked
  for each statement execute function book_postings();

create function check_has_lines() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from posting where journal_id = new.id)
  then raise exception 'journal % has no lines', new.id using errcode = 'check_violation'; end if;
  return null;
end $$;
create constraint trigger has_lines after insert on journal deferrable initially deferred
  for each row execute function check_has_lines();

/* A balance is booked, never written: only from within the trigger above. */
create function guard_account() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.balance <> 0 then raise exception 'an account opens empty' using errcode = 'check_violation'; end if;
  elsif pg_trigger_depth() < 2 or (new.id, new.code, new.currency) is distinct from (old.id, old.code, old.currency)
    or (new.client_id, new.min_balance) is distinct from (old.client_id, old.min_balance)
  then raise exception 'append-only table account'; end if;
  return new;
end $$;
create trigger guard before insert or update on account for each row execute function guard_account();
create trigger ao before delete on account for each row execute function deny_change();
create trigger ao_t before truncate on account for each statement execute function deny_change();

/* Money set aside until it leaves or comes back. */
create table hold (
  id bigint generated always as identity primary key,
  workspace_id integer not null references workspace,
  amount bigint not null check (amount > 0),
  journal_id bigint not null unique references journal,
  state text not null default 'open' check (state in ('open', 'released', 'captured')),
  ended_by bigint unique references journal,
  created_at timestamptz not null default clock_timestamp(),
  check ((state = 'open') = (ended_by is null))
);
create index hold_workspace on hold (workspace_id);
create index hold_open on hold (workspace_id) where state = 'open';
create function guard_hold() returns trigger language plpgsql as $$
begin
  if old.state <> 'open' or new.state = 'open'
    or (new.id, new.workspace_id, new.amount, new.journal_id) is distinct from (old.id, old.workspace_id, old.amount, old.journal_id)
  then raise exception 'a hold ends once and changes never' using errcode = 'check_violation'; end if;
  return new;
end $$;
create trigger guard before update on hold for each row execute function guard_hold();
create trigger ao before delete on hold for each row execute function deny_change();
create trigger ao_t before truncate on hold for each statement execute function deny_change();

/* Each seal is made of the one before it and of every journal since. */
create table ledger_seal (
  day date primary key,
  last_journal_id bigint not null,
  journals bigint not null,
  prev_hash bytea not null,
  hash bytea not null,
  sealed_at timestamptz not null default clock_timestamp()
);
create trigger ao before update or delete on ledger_seal for each row execute function deny_change();
create trigger ao_t before truncate on ledger_seal for each statement execute function deny_change();

create table ledger_run (
  id bigint generated always as identity primary key,
  asked_by integer references app_user,
  cause text not null check (cause in ('cron', 'command', 'operator')),
  state text not null default 'waiting' check (state in ('waiting', 'running', 'sound', 'unsound', 'failed')),
  journals bigint not null default 0,
  journals_to_do bigint not null default 0,
  counts jsonb not null default '{}',
  findings jsonb not null default '[]',
  error text,
  created_at timestamptz not null default clock_timestamp(),
  /* When it last told how far it is. */
  touched_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);
create index ledger_run_newest on ledger_run (id desc) where state in ('sound', 'unsound');

/* What a workspace sees: one row for each journal that changes what it can spend, its use rolled up by server and day. */
create table billing_transaction (
  id bigint generated always as identity primary key,
  workspace_id integer not null references workspace,
  type text not null check (type in ('Deposit', 'Spending', 'Exchange', 'Withdrawal')),
  kind text not null,
  at timestamptz not null,
  currency text not null,
  amount bigint not null,
  journal_id bigint references journal,
  instance_id integer references instance,
  day date,
  from_address text,
  to_address text,
  network text,
  check ((journal_id is null) = (instance_id is not null)),
  check ((instance_id is null) = (day is null))
) with (fillfactor = 70);
create unique index billing_transaction_journal on billing_transaction (journal_id, currency) where journal_id is not null;
create unique index billing_transaction_use on billing_transaction (instance_id, day) where instance_id is not null;
create index billing_transaction_time on billing_transaction (workspace_id, at, id);
create index billing_transaction_type on billing_transaction (workspace_id, type, at, id);

/* How many there are, so that nobody counts a million rows for a page of ten. Days are those of UTC. */
create table billing_transaction_count (
  workspace_id integer not null references workspace,
  type text not null,
  day date not null,
  n integer not null,
  primary key (workspace_id, day, type)
);

create function show_postings() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction (workspace_id, type, kind, at, currency, amount, journal_id, from_address, to_address, network)
  select j.client_id, coalesce(k.shown_as, r.shown_as), j.kind, j.created_at, a.currency, sum(b.amount), j.id,
    j.meta->>'from', j.meta->>'to', j.meta->>'network'
  from booked b join journal j on j.id = b.journal_id join account a on a.id = b.account_id
    join journal_kind k on k.kind = j.kind
    left join journal o on o.id = j.reverses_id left join journal_kind r on r.kind = o.kind
  where j.client_id is not null and j.kind <> 'usage' and a.class in ('credit', 'card', 'onchain')
  group by j.id, k.kind, r.kind, a.currency having sum(b.amount) <> 0;
  return null;
end $$;
create trigger show after insert on posting referencing new table as booked
  for each statement execute function show_postings();

create function count_transactions() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction_count as c (workspace_id, type, day, n)
  select workspace_id, type, (at at time zone 'UTC')::date, count(*) from added group by 1, 2, 3 order by 1, 3, 2
  on conflict (workspace_id, day, type) do update set n = c.n + excluded.n;
  return null;
end $$;
create trigger count after insert on billing_transaction referencing new table as added
  for each statement execute function count_transactions();

/* The credit that workspaces had before there was a list of it. */
insert into billing_transaction (workspace_id, type, kind, at, currency, amount, journal_id)
select j.client_id, 'Deposit', j.kind, j.created_at, a.currency, sum(p.amount), j.id
from journal j join posting p on p.journal_id = j.id join account a on a.id = p.account_id
where j.client_id is not null and a.class in ('credit', 'card', 'onchain') group by j.id, a.currency having sum(p.amount) <> 0;

create table promo_code (
  id integer generated always as identity primary key,
  code text not null unique check (code ~ '^[A-Z0-9]([A-Z0-9-]{2,38})[A-Z0-9]$'),
  amount bigint not null check (amount > 0),
  uses_max integer not null check (uses_max > 0),
  uses integer not null default 0 check (uses between 0 and uses_max),
  expires_at timestamptz not null,
  note text not null default '',
  created_by integer references app_user,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
/* Once per person: by their account, and by the address they had, which outlives it unreadably. */
create table promo_activation (
  promo_code_id integer not null references promo_code,
  activated_by integer not null references app_user,
  person_mark bytea not null,
  workspace_id integer not null references workspace,
  journal_id bigint not null unique references journal,
  created_at timestamptz not null default now(),
  primary key (promo_code_id, activated_by),
  unique (promo_code_id, person_mark)
);
create index promo_activation_user on promo_activation (activated_by);
create index promo_activation_workspace on promo_activation (workspace_id);

revoke update, delete, truncate on journal, posting, ledger_seal, hold from public;
revoke delete, truncate on account from public;
`;
