/** Join links of workspaces, and codes that lead from a container's access page to its host. */
export const sql = `
create table invite (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  created_by integer not null references app_user,
  role text not null check (role in ('Owner', 'Admin', 'Developer', 'Billing', 'Guest')),
  /* SHA-256 of 32 random bytes: nobody can guess them, and the link itself is kept nowhere. */
  hash bytea not null unique,
  uses integer not null check (uses between 1 and 100),
  used integer not null default 0 check (used between 0 and uses),
  status text not null default 'pending' check (status in ('pending', 'finished', 'canceled')),
  ended_by text check (ended_by in ('used up', 'expired', 'revoked', 'inviter')),
  ended_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  check ((ended_by is null) = (ended_at is null))
);
create index invite_list on invite (workspace_id, created_at desc, id desc);
create index invite_inviter on invite (created_by, workspace_id) where status = 'pending';
create index invite_expiry on invite (expires_at) where status = 'pending';
create trigger status_moves before update of status on invite for each row execute function check_status_move('invite');

/* Whoever left lets nobody in any more: by every way to leave there is. */
create function end_invites_of_member() returns trigger language plpgsql as $$
begin
  update invite set status = 'canceled', ended_by = 'inviter', ended_at = now()
    where workspace_id = old.workspace_id and created_by = old.user_id and status = 'pending';
  return null;
end $$;
create trigger membership_takes_invites after delete on membership
  for each row execute function end_invites_of_member();

create function end_invites_of_user() returns trigger language plpgsql as $$
begin
  update invite set status = 'canceled', ended_by = 'inviter', ended_at = now()
    where created_by = old.id and status = 'pending';
  return null;
end $$;
create trigger disabling_takes_invites after update of disabled_at on app_user
  for each row when (old.disabled_at is null and new.disabled_at is not null) execute function end_invites_of_user();

create table container_code (
  hash bytea primary key,
  container_id integer not null references container on delete cascade,
  port integer not null,
  /* The session of the browser that asked for it, which must still be there when the code is used. */
  session_id uuid not null references session on delete cascade,
  /* Where on that host its visitor wants to go. */
  path text not null,
  expires_at timestamptz not null
);
create index container_code_expiry on container_code (expires_at);
create index container_code_container on container_code (container_id);
create index container_code_session on container_code (session_id);
`;
