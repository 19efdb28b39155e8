/**
 * Whatever ends a session, a membership or an account, open streams hear of it when it commits: the database tells,
 * so that no way to change them can forget to.
 */
export const sql = `
create function tell_access_of(who integer) returns void language sql as $$
  select pg_notify('stagi', json_build_object('topic', 'access', 'message', json_build_object('userId', who))::text)
$$;

create function tell_access_of_row() returns trigger language plpgsql as $$
begin
  perform tell_access_of(old.user_id);
  return null;
end $$;
create trigger session_ends after update of revoked_at on session
  for each row when (old.revoked_at is distinct from new.revoked_at) execute function tell_access_of_row();
create trigger membership_changes after update of role on membership
  for each row when (old.role is distinct from new.role) execute function tell_access_of_row();
create trigger membership_ends after delete on membership for each row execute function tell_access_of_row();

create function tell_access_of_user() returns trigger language plpgsql as $$
begin
  perform tell_access_of(old.id);
  return null;
end $$;
create trigger user_disabled after update of disabled_at, is_employee on app_user
  for each row when (old.disabled_at is distinct from new.disabled_at or old.is_employee is distinct from new.is_employee)
  execute function tell_access_of_user();

create function tell_access_of_members() returns trigger language plpgsql as $$
begin
  perform tell_access_of(user_id) from membership where workspace_id = old.id;
  return null;
end $$;
create trigger workspace_disabled after update of disabled_at on workspace
  for each row when (old.disabled_at is distinct from new.disabled_at) execute function tell_access_of_members();

create index session_live on session (user_id, last_used_at desc) where revoked_at is null;
`;
