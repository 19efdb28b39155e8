/** What members and entries of the audit log are listed by, where there are a million of them: all of it in one index. */
export const sql = `
/*
 * Members are found and sorted by what they are called. A copy of it in their memberships lets an index of a workspace
 * know it, which people's own indexes do not: they know everybody, and no workspace.
 */
alter table membership add column name text, add column email text;
update membership m set name = u.name, email = u.email from app_user u where u.id = m.user_id;
alter table membership alter column name set not null, alter column email set not null;
alter table membership add column search text not null
  generated always as (E'\\n ' || search_form(name) || E'\\n ' || search_form(email)) stored;

/* Whoever joins while they change their name waits for that, and the change for them: no copy is older than its row. */
create function copy_person() returns trigger language plpgsql as $$
begin
  select u.name, u.email into new.name, new.email from app_user u where u.id = new.user_id for share;
  return new;
end $$;
create trigger person before insert or update of user_id, name, email on membership
  for each row execute function copy_person();

create function rename_member() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update membership set name = new.name, email = new.email where user_id = new.id;
  return null;
end $$;
create trigger memberships after update of name, email on app_user for each row
  when (old.name is distinct from new.name or old.email is distinct from new.email) execute function rename_member();

drop index membership_list;
drop index membership_of;
drop index membership_role;
drop index app_user_words;
/* An order each, with what the list is narrowed by. */
create index membership_age on membership (workspace_id, created_at desc, user_id desc) include (role, search);
create index membership_name on membership (workspace_id, name, user_id) include (role, search);
create index membership_email on membership (workspace_id, email, user_id) include (role, search);
create index membership_role on membership (workspace_id, role, created_at, user_id) include (search);
/* What is added waits in a list that every search reads: it is to stay short. */
create extension if not exists btree_gin;
create index membership_search on membership using gin (workspace_id, search gin_trgm_ops) with (gin_pending_list_limit = 256);
alter index app_user_search set (gin_pending_list_limit = 256);
alter index workspace_search set (gin_pending_list_limit = 256);

/*
 * Members of the workspace of the moment. A policy comes before every operator that might tell what it sees, and that of
 * texts might: only from within this does it lead through the index.
 */
create function members_called(pattern text, most integer)
returns table (user_id integer, role text, created_at timestamptz, name text, email text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  /* Planned anew for each text. */
  return query execute 'select m.user_id, m.role, m.created_at, m.name, m.email from membership m
    where m.workspace_id = $1 and m.search like $2 limit $3'
    using current_workspace(), pattern, most;
end $$;

/* Workspaces by the beginning of an owner's address. */
create index membership_owner on membership (email text_pattern_ops) include (workspace_id) where role = 'Owner';

/*
 * An entry's chain is its workspace: what lets calls see entries of one workspace alone stands in every index. Each has
 * all that the log is narrowed by.
 */
alter table audit add constraint audit_chain_check check (chain = coalesce(workspace_id, 0));
drop index audit_actor_of;
drop index audit_area;
drop index audit_outcome;
drop index audit_time;
create index audit_actor_of on audit (chain, actor_id, seq desc) include (area, outcome, at);
create index audit_area on audit (chain, area, seq desc) include (actor_id, outcome, at);
create index audit_outcome on audit (chain, outcome, seq desc) include (actor_id, area, at);
create index audit_time on audit (chain, at desc, seq desc) include (actor_id, area, outcome);
`;
