/**
 * A membership holds its person's name and address in six indexes. Of somebody in hundreds of workspaces they follow a
 * step at a time: all in one statement would take as long as its limit on a database that has them not in memory.
 */
export const sql = `
/* Whose memberships are still to follow. What is shown is the person's own row at once: only where lists sort and find it follows. */
create table membership_follows (
  user_id integer primary key references app_user on delete cascade,
  since timestamptz not null default clock_timestamp()
);

create or replace function rename_member() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update membership set name = new.name, email = new.email where user_id = new.id and workspace_id = any(array(
    select workspace_id from membership where user_id = new.id order by created_at limit 50));
  if exists (select from membership where user_id = new.id and (name, email) is distinct from (new.name, new.email)) then
    insert into membership_follows (user_id) values (new.id) on conflict do nothing;
    perform pg_notify('stagi', '{"topic":"due","message":{"kind":"membership"}}');
  end if;
  return null;
end $$;
`;
