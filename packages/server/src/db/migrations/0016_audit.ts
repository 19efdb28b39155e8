/**
 * Who did what in a workspace. Rows come in by insert alone, each bound to the one before it by a hash: what was
 * changed, left out or put in between later shows. Chain 0 is the platform's own.
 */
export const sql = `
create table audit (
  chain integer not null,
  seq bigint not null,
  at timestamptz not null,
  workspace_id integer references workspace,
  actor_id integer references app_user,
  /* What they showed: a session or an API token, and which. */
  credential text not null,
  credential_id text,
  ip text,
  user_agent text,
  action text not null,
  area text not null generated always as (split_part(action, '/', 1)) stored,
  object_type text,
  object_id text,
  object_label text,
  outcome text not null check (outcome in ('done', 'refused', 'denied', 'failed')),
  detail jsonb not null default '{}',
  /* Of the object's row, where there is one. */
  before_hash bytea,
  after_hash bytea,
  prev_hash bytea not null,
  hash bytea not null,
  primary key (chain, seq)
);
create index audit_actor_of on audit (chain, actor_id, seq desc);
create index audit_area on audit (chain, area, seq desc);
create index audit_outcome on audit (chain, outcome, seq desc);
create index audit_time on audit (chain, at desc, seq desc);
create index audit_age on audit (at);

/* Where each chain ends; also what serializes it. first_* moves when entries have had their time. */
create table audit_head (
  chain integer primary key,
  seq bigint not null default 0,
  hash bytea not null default '\\x',
  first_seq bigint not null default 1,
  first_prev_hash bytea not null default '\\x'
);
/* Who stands in a chain, so that nobody has to read all of it to list them. */
create table audit_actor (chain integer not null, user_id integer not null references app_user, primary key (chain, user_id));

create function audit_hash(a audit) returns bytea language sql immutable as $$
  select sha256(convert_to(jsonb_build_array(
    encode(a.prev_hash, 'hex'), a.chain, a.seq, (extract(epoch from a.at) * 1000000)::bigint, a.workspace_id, a.actor_id,
    a.credential, a.credential_id, a.ip, a.user_agent, a.action, a.object_type, a.object_id, a.object_label, a.outcome,
    a.detail, encode(a.before_hash, 'hex'), encode(a.after_hash, 'hex'))::text, 'UTF8'))
$$;

create function audit_chain() returns trigger language plpgsql security definer set search_path = public as $$
declare head audit_head;
begin
  new.chain := coalesce(new.workspace_id, 0);
  insert into audit_head (chain) values (new.chain) on conflict do nothing;
  select * into head from audit_head where chain = new.chain for update;
  new.seq := head.seq + 1;
  new.at := clock_timestamp();
  new.prev_hash := head.hash;
  new.hash := audit_hash(new);
  update audit_head set seq = new.seq, hash = new.hash where chain = new.chain;
  if new.actor_id is not null then
    insert into audit_actor (chain, user_id) values (new.chain, new.actor_id) on conflict do nothing;
  end if;
  return new;
end $$;
create trigger chain before insert on audit for each row execute function audit_chain();

create trigger ao before update on audit for each row execute function deny_change();
create trigger ao_t before truncate on audit for each statement execute function deny_change();
/* The oldest of a chain may go once they have had their 400 days, none left out. */
create function audit_forget() returns trigger language plpgsql security definer set search_path = public as $$
begin
  if exists (select 1 from gone where at > now() - interval '400 days') then raise exception 'append-only table audit'; end if;
  if exists (
    select 1 from gone join audit_head h on h.chain = gone.chain group by gone.chain, h.first_seq
    having min(gone.seq) <> h.first_seq or max(gone.seq) - h.first_seq + 1 <> count(*)
  ) then raise exception 'only the oldest entries of a chain may go'; end if;
  update audit_head h set first_seq = gone.seq + 1, first_prev_hash = gone.hash
  from gone where gone.chain = h.chain and gone.seq = (select max(g.seq) from gone g where g.chain = h.chain);
  return null;
end $$;
create trigger forget after delete on audit referencing old table as gone
  for each statement execute function audit_forget();
create trigger ao_t before truncate on audit_head for each statement execute function deny_change();
revoke update, delete, truncate on audit, audit_head from public;
`;
