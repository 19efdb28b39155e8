/** Who made a workspace, and that none is without an owner, by whatever way members change or go. */
export const sql = `
alter table workspace add column created_by integer references app_user;
update workspace set created_by = personal_of;
create index workspace_maker on workspace (created_by) where personal_of is null;
create index membership_list on membership (workspace_id, created_at desc, user_id desc);

/* Two owners who leave at once wait for each other here: the second finds that it is the last. */
create function keep_an_owner() returns trigger language plpgsql as $$
begin
  perform 1 from workspace where id = old.workspace_id for no key update;
  if exists (select 1 from membership where workspace_id = old.workspace_id)
     and not exists (select 1 from membership where workspace_id = old.workspace_id and role = 'Owner')
  then raise exception 'workspace % needs an owner', old.workspace_id using errcode = 'check_violation'; end if;
  return null;
end $$;
create trigger owner_stays after update of role or delete on membership
  for each row when (old.role = 'Owner') execute function keep_an_owner();
`;
