/**
 * A platform that was restored from a backup is held until an operator releases it. And `pg_restore` sets no search path:
 * the function of isolation has to be found by the one that calls it.
 */
export const sql = `
alter table installation add column restored_from timestamptz;
alter table installation add column held_at timestamptz;
create or replace function current_workspace() returns integer language sql stable parallel safe as $$
  select case current_setting('stagi.workspace', true)
    when 'none' then public.refuse_without_workspace()
    else nullif(current_setting('stagi.workspace', true), '')::integer end
$$;
`;
