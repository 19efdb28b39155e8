/** Terminals that people open: for the audit log, which says when and why each ended. */
export const sql = `
create table terminal_session (
  id uuid primary key,
  workspace_id integer not null references workspace,
  instance_id integer not null references instance,
  /* Null: of the server itself. */
  container_id integer references container,
  user_id integer not null references app_user on delete cascade,
  opened_at timestamptz not null default clock_timestamp(),
  /* When somebody last looked at it. */
  seen_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
) with (fillfactor = 70);
create index terminal_session_open on terminal_session (seen_at) where ended_at is null;
create index terminal_session_ended on terminal_session (ended_at) where ended_at is not null;
create index terminal_session_user on terminal_session (user_id);
`;
