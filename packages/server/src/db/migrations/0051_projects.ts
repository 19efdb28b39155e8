/** Projects: a git repository each, the servers attached to it, what happened in it, and imports into it. */
export const sql = `
create table project (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  slug text not null,
  title text not null,
  description text not null default '',
  /* The name of its folder; never used twice. */
  repository uuid not null unique default gen_random_uuid(),
  default_branch text not null default 'main',
  allow_forced_push boolean not null default false,
  is_empty boolean not null default true,
  last_commit_sha text,
  last_commit_message text,
  last_commit_at timestamptz,
  last_push_at timestamptz,
  /* Counts pushes: who records one sees whether another came in between. */
  pushes integer not null default 0,
  /* A push that began since may have landed without having been recorded. */
  push_begun_at timestamptz,
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  archived_at timestamptz,
  closed_at timestamptz,
  status text not null,
  status_since timestamptz not null default clock_timestamp(),
  status_seen_at timestamptz,
  status_deadline timestamptz,
  status_reason text,
  desired text not null default 'kept' check (desired in ('kept', 'gone')),
  gen integer not null default 1,
  lock_token uuid,
  lock_owner integer,
  lock_expires_at timestamptz,
  next_at timestamptz default clock_timestamp(),
  attempts integer not null default 0,
  last_error text,
  check ((last_commit_sha is null) = (last_commit_at is null))
) with (fillfactor = 70);
create unique index project_slug on project (workspace_id, slug) where closed_at is null;
create index project_list on project (workspace_id, created_at desc, id desc) where closed_at is null;
create index project_due on project (next_at) where next_at is not null;
create index project_lease on project (lock_expires_at) where lock_expires_at is not null;
create trigger status_moves before update of status on project for each row execute function check_status_move('project');

create table project_import (
  id integer generated always as identity primary key,
  project_id integer not null references project,
  url text not null,
  asked_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  status text not null,
  status_since timestamptz not null default clock_timestamp(),
  deadline timestamptz,
  phase text,
  fraction real check (fraction between 0 and 1),
  received_bytes bigint not null default 0,
  error text,
  lock_token uuid,
  lock_owner integer,
  lock_expires_at timestamptz,
  next_at timestamptz default clock_timestamp(),
  attempts integer not null default 0,
  last_error text
) with (fillfactor = 50);
create index project_import_last on project_import (project_id, id desc);
create unique index project_import_open on project_import (project_id) where status in ('queued', 'running');
create index project_import_due on project_import (next_at) where next_at is not null;
create index project_import_lease on project_import (lock_expires_at) where lock_expires_at is not null;
create trigger status_moves before update of status on project_import
  for each row execute function check_status_move('project-import');

create table project_instance (
  project_id integer not null references project,
  instance_id integer not null references instance,
  attached_at timestamptz not null default clock_timestamp(),
  attached_by integer references app_user on delete set null,
  primary key (project_id, instance_id)
);
create index project_instance_instance on project_instance (instance_id);

create table project_activity (
  id bigint generated always as identity primary key,
  project_id integer not null references project,
  at timestamptz not null default clock_timestamp(),
  kind text not null,
  actor_id integer references app_user on delete set null,
  instance_id integer references instance,
  detail jsonb not null default '{}'
);
create index project_activity_list on project_activity (project_id, at desc, id desc);
create index project_activity_age on project_activity (at);

alter table container add column project_id integer references project;
create index container_project on container (project_id, id) where project_id is not null;

/* Bytes of the repositories of a workspace, and of the Free workspaces of its owners. */
create function repository_bytes_under(of_workspace integer, owners integer[]) returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(p.size_bytes), 0)::bigint from project p
  where p.workspace_id in (
      select of_workspace
      union select w.id from membership m join workspace w on w.id = m.workspace_id
        where m.role = 'Owner' and w.plan = 'Free' and m.user_id = any(owners))
    and p.closed_at is null
$$;
`;
