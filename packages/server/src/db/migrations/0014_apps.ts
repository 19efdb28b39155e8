/**
 * Apps that people let in (OAuth 2.1). Being let in is a session of its own: whatever ends sessions ends it, and open
 * streams hear of it.
 */
export const sql = `
alter table session add column app_id text;
/* What it was let in for at most; null: whatever its user may. */
alter table session add column app_permissions text[];
/* The one workspace that it reaches; null: all of its user's. */
alter table session add column app_workspace_id integer references workspace on delete cascade;
create index session_of_app on session (user_id, created_at) where app_id is not null;
create index session_app_workspace on session (app_workspace_id) where app_workspace_id is not null;

create table oauth_code (
  hash bytea primary key,
  app_id text not null,
  /* The session of the browser that let the app in, which must still be there when the code is used. */
  allowed_by uuid not null references session on delete cascade,
  redirect_uri text not null,
  code_challenge text not null,
  permissions text[],
  workspace_id integer references workspace on delete cascade,
  /* What the code gave: ended when it comes a second time. */
  gave uuid references session on delete set null,
  used_at timestamptz,
  expires_at timestamptz not null
);
create index oauth_code_expiry on oauth_code (expires_at);
create index oauth_code_allowed_by on oauth_code (allowed_by);
create index oauth_code_gave on oauth_code (gave);
create index oauth_code_workspace on oauth_code (workspace_id);
`;
