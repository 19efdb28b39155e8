/** Keys for programs: less than a session, fixed to one workspace, and gone with the membership they lived on. */
export const sql = `
create table api_token (
  id integer generated always as identity primary key,
  user_id integer not null references app_user on delete cascade,
  workspace_id integer not null references workspace,
  description text not null,
  /* SHA-256: the secret has 256 random bits, so that nobody can guess it however fast the hash is, and every call reads it. */
  hash bytea not null,
  /* Null: whatever the owner may. */
  permissions text[] check (cardinality(permissions) > 0),
  expires_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  archived_at timestamptz,
  archived_by text check (archived_by in ('archived', 'left')),
  created_at timestamptz not null default now(),
  check ((archived_at is null) = (archived_by is null))
);
create index api_token_list on api_token (user_id, created_at desc, id desc);
create index api_token_workspace on api_token (workspace_id, user_id) where archived_at is null;

create trigger token_ends after update of archived_at on api_token
  for each row when (old.archived_at is distinct from new.archived_at) execute function tell_access_of_row();

create function keep_tokens_ended() returns trigger language plpgsql as $$
begin raise exception 'api_token % has ended for ever', old.id using errcode = 'check_violation'; end $$;
create trigger token_stays_ended before update on api_token
  for each row when (old.archived_at is not null and new.archived_at is distinct from old.archived_at)
  execute function keep_tokens_ended();

/* Whoever leaves and comes back makes new ones: by every way to leave there is. */
create function end_tokens_of_member() returns trigger language plpgsql as $$
begin
  update api_token set archived_at = now(), archived_by = 'left'
    where workspace_id = old.workspace_id and user_id = old.user_id and archived_at is null;
  return null;
end $$;
create trigger membership_takes_tokens after delete on membership
  for each row execute function end_tokens_of_member();

alter table stream_ticket
  alter column session_id drop not null,
  add column api_token_id integer references api_token on delete cascade,
  add constraint stream_ticket_credential check (num_nonnulls(session_id, api_token_id) = 1);
`;
