/**
 * What is made of a membership ends with it, also what is made at the moment of its end; and what runs with the rights of
 * the owner of the tables reads those tables, whatever else its caller has of the same name.
 */
export const sql = `
/* Who removes somebody holds their membership: a token of that moment waits, and then finds it gone. */
create function refuse_without_membership() returns trigger language plpgsql as $$
begin
  perform 1 from membership where workspace_id = new.workspace_id and user_id = new.user_id for key share;
  if not found then raise exception 'user % is no member of workspace %', new.user_id, new.workspace_id
    using errcode = 'serialization_failure'; end if;
  return null;
end $$;
create trigger token_of_member after insert on api_token for each row execute function refuse_without_membership();

create function refuse_key_without_membership() returns trigger language plpgsql as $$
begin
  perform 1 from membership m
    where m.workspace_id = (select workspace_id from instance where id = new.instance_id)
      and m.user_id = (select user_id from ssh_key where id = new.ssh_key_id) for key share;
  if not found then raise exception 'the owner of ssh key % is no member', new.ssh_key_id
    using errcode = 'serialization_failure'; end if;
  return null;
end $$;
create trigger key_of_member after insert on instance_ssh_key
  for each row execute function refuse_key_without_membership();

/* What a workspace is called after somebody left is none of their business: they go on reading what they knew. */
alter table api_token add column left_workspace_name text;
update api_token t set left_workspace_name = w.name from workspace w where w.id = t.workspace_id
  and not exists (select from membership m where m.workspace_id = t.workspace_id and m.user_id = t.user_id);
create or replace function end_tokens_of_member() returns trigger language plpgsql as $$
begin
  update api_token set archived_at = now(), archived_by = 'left'
    where workspace_id = old.workspace_id and user_id = old.user_id and archived_at is null;
  update api_token set left_workspace_name = (select name from workspace where id = old.workspace_id)
    where workspace_id = old.workspace_id and user_id = old.user_id;
  return null;
end $$;

/* An app that was let into this workspace alone is no more use than a token of it, nor does it come back with its user. */
create function end_apps_of_member() returns trigger language plpgsql as $$
begin
  update session set revoked_at = now(), revoked_reason = 'its user left the workspace'
    where user_id = old.user_id and app_workspace_id = old.workspace_id and revoked_at is null;
  delete from oauth_code c using session s
    where s.id = c.allowed_by and s.user_id = old.user_id and c.workspace_id = old.workspace_id;
  return null;
end $$;
create trigger membership_takes_apps after delete on membership for each row execute function end_apps_of_member();

/* Tables of a session come before all others unless they are named last. */
alter function audit_chain() set search_path = public, pg_temp;
alter function audit_forget() set search_path = public, pg_temp;
`;
