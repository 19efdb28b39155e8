/**
 * A day of use is a transaction once something was paid on it. What was only written off, and a day that only a refund
 * names (use over midnight that is charged after it and given back), changed no balance: it was a row of 0.00.
 */
export const sql = `
create or replace function show_use() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction (workspace_id, type, kind, at, currency, amount, instance_id, day)
  select client_id, 'Spending', 'usage', last_at, 'STAGI', 0, instance_id, day from begun where charged > 0 on conflict do nothing;
  return null;
end $$;
create function show_use_once_paid() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction (workspace_id, type, kind, at, currency, amount, instance_id, day)
  values (new.client_id, 'Spending', 'usage', new.last_at, 'STAGI', 0, new.instance_id, new.day) on conflict do nothing;
  return null;
end $$;
/* For each row, as its condition costs nothing on the days that have a transaction, which are nearly all. */
create trigger show_once_paid after update on usage_day for each row
  when (old.charged = 0 and new.charged > 0) execute function show_use_once_paid();

with gone as (
  delete from billing_transaction t using usage_day u
  where t.kind = 'usage' and u.client_id = t.workspace_id and u.day = t.day and u.instance_id = t.instance_id and u.charged = 0
  returning t.workspace_id, t.type, (t.at at time zone 'UTC')::date as day
)
update billing_transaction_count c set n = c.n - less.n
from (select workspace_id, type, day, count(*)::int as n from gone group by 1, 2, 3) less
where c.workspace_id = less.workspace_id and c.type = less.type and c.day = less.day;
delete from billing_transaction_count where n = 0;
delete from usage_day where charged = 0 and uncollected = 0 and refunded = 0 and forgiven = 0;
`;
