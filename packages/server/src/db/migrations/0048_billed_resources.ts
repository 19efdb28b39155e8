/**
 * What is billed is a server or a storage. A price pays for a number of hours, so that a monthly one is exact. The
 * triggers that show use as transactions are made anew over the new columns.
 */
export const sql = `
alter table segment drop constraint segment_instance_id_fkey, drop constraint segment_instance_id_tstzrange_excl,
  drop constraint segment_rate_check;
drop index segment_open;
drop index segment_unconfirmed;
alter table segment rename column instance_id to resource_id;
alter table segment rename column price_per_hour to price;
alter table segment add column kind text not null default 'instance', add column price_hours integer not null default 1;
alter table segment alter column kind drop default;
alter table segment add check (case kind when 'instance' then rate in ('running', 'stopped') when 'storage' then rate = 'size' else false end),
  add check (price_hours between 1 and 10000),
  add exclude using gist (kind with =, resource_id with =, tstzrange(started_at, coalesce(ended_at, 'infinity')) with &&);
create unique index segment_open on segment (resource_id, kind) where ended_at is null;
create index segment_unconfirmed on segment (resource_id, kind) where not confirmed and not voided;

alter table usage_day drop constraint usage_day_instance_id_fkey, drop constraint usage_day_pkey;
alter table usage_day rename column instance_id to resource_id;
alter table usage_day add column kind text not null default 'instance' check (kind in ('instance', 'storage'));
alter table usage_day alter column kind drop default;
alter table usage_day add primary key (client_id, day, kind, resource_id);

alter table billing_transaction drop constraint billing_transaction_instance_id_fkey;
drop index billing_transaction_use;
alter table billing_transaction rename column instance_id to resource_id;
alter table billing_transaction add column resource_kind text check (resource_kind in ('instance', 'storage'));
update billing_transaction set resource_kind = 'instance' where resource_id is not null;
alter table billing_transaction add check ((resource_kind is null) = (resource_id is null));
create unique index billing_transaction_use on billing_transaction (resource_id, resource_kind, day) where resource_id is not null;

create or replace function show_use() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction (workspace_id, type, kind, at, currency, amount, resource_kind, resource_id, day)
  select client_id, 'Spending', 'usage', last_at, 'STAGI', 0, kind, resource_id, day from begun where charged > 0 on conflict do nothing;
  return null;
end $$;
create or replace function show_use_once_paid() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction (workspace_id, type, kind, at, currency, amount, resource_kind, resource_id, day)
  values (new.client_id, 'Spending', 'usage', new.last_at, 'STAGI', 0, new.kind, new.resource_id, new.day) on conflict do nothing;
  return null;
end $$;
`;
