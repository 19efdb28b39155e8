/**
 * Use among the transactions: one row for each server and day, made when the day's sums begin. Its amount is what these
 * sums say, so that a charge each minute changes nothing here.
 */
export const sql = `
create function show_use() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into billing_transaction (workspace_id, type, kind, at, currency, amount, instance_id, day)
  select client_id, 'Spending', 'usage', last_at, 'STAGI', 0, instance_id, day from begun on conflict do nothing;
  return null;
end $$;
create trigger show after insert on usage_day referencing new table as begun for each statement execute function show_use();
insert into billing_transaction (workspace_id, type, kind, at, currency, amount, instance_id, day)
select client_id, 'Spending', 'usage', last_at, 'STAGI', 0, instance_id, day from usage_day on conflict do nothing;
`;
