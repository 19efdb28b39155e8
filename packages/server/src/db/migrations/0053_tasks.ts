/** Tasks: a commit that is run on a server. Each attempt is a run, and once it has a place a container. */
export const sql = `
create table task_schedule (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  project_id integer not null references project,
  title text not null,
  cron text not null,
  time_zone text not null,
  /* What each task of it runs: TaskFields of the contract. */
  fields jsonb not null,
  instance_id integer not null references instance,
  storage_id integer not null references storage,
  env_names text[] not null default '{}',
  env_sealed text not null,
  /* It acts as this person. */
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  paused_at timestamptz,
  /* Why the platform paused it; null: a person did. */
  paused_reason text,
  next_at timestamptz,
  last_at timestamptz,
  last_result text check (last_result in ('started', 'skipped', 'failed')),
  last_reason text,
  last_task_id integer
) with (fillfactor = 70);
create index task_schedule_list on task_schedule (workspace_id, project_id, id desc) where deleted_at is null;
create index task_schedule_due on task_schedule (next_at) where deleted_at is null and paused_at is null;

create table task (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  project_id integer not null references project,
  instance_id integer not null references instance,
  storage_id integer not null references storage,
  /* Counts the tasks of its project. */
  ordinal integer not null,
  slug text not null,
  title text not null,
  input_url_path text not null,
  input_path text not null,
  output_path text not null,
  code_path text not null,
  command text not null,
  commit_sha text not null,
  commit_message text not null,
  commit_at timestamptz,
  /* The branch or tag that was asked for. */
  commit_ref text,
  image text not null,
  cpus numeric(8, 1) not null,
  gpu_count integer not null,
  env_names text[] not null default '{}',
  env_sealed text not null,
  time_limit_minutes integer,
  retries integer not null default 0,
  retry_on_failure boolean not null default false,
  /* 0 low, 1 normal, 2 high. */
  priority smallint not null default 1,
  schedule_id integer references task_schedule,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  status text not null default 'new',
  status_since timestamptz not null default clock_timestamp(),
  status_seen_at timestamptz,
  status_deadline timestamptz,
  status_reason text,
  /* When it may get a place: later than now while a retry waits. */
  not_before timestamptz not null default clock_timestamp(),
  /* When a later task first overtook it. */
  overtaken_at timestamptz,
  /* The number of its last run. */
  run_number integer not null default 1,
  /* Micro-STAGI of its ended runs. */
  cost_micro bigint not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  exit_code integer,
  /* Since when it is to end as canceled, and why. */
  cancel_asked_at timestamptz,
  cancel_reason text,
  unique (project_id, ordinal)
) with (fillfactor = 60);
create unique index task_slug on task (workspace_id, slug);
create index task_list on task (workspace_id, created_at desc, id desc);
create index task_project_list on task (project_id, created_at desc, id desc);
create index task_schedule_tasks on task (schedule_id, id desc) where schedule_id is not null;
create index task_unfinished on task (instance_id, priority desc, id)
  where status in ('new', 'scheduled', 'in queue', 'running', 'canceling');
create index task_storage_unfinished on task (storage_id)
  where status in ('new', 'scheduled', 'in queue', 'running', 'canceling');
create trigger status_moves before update of status on task for each row execute function check_status_move('task');

alter table task_schedule add foreign key (last_task_id) references task;

/* An attempt. Its token is derived from the row; its keys for the storage are revoked when it ends. */
create table task_run (
  id integer generated always as identity primary key,
  task_id integer not null references task on delete cascade,
  number integer not null,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  /* Set when nothing of it is waited for any more. */
  ended_at timestamptz,
  exit_code integer,
  reason text,
  price_micro_per_hour bigint not null default 0,
  cost_micro bigint not null default 0,
  gpu_ids integer[] not null default '{}',
  container_id integer references container,
  input_key_id integer references s3_key,
  output_key_id integer references s3_key,
  output_files integer not null default 0,
  output_bytes bigint not null default 0,
  output_skipped integer not null default 0,
  output_phase text not null default 'none' check (output_phase in ('none', 'saving', 'saved', 'not saved')),
  output_error text,
  unique (task_id, number)
) with (fillfactor = 70);
create unique index task_run_container on task_run (container_id) where container_id is not null;
create index task_run_created on task_run (created_at);
create unique index task_run_input_key on task_run (input_key_id) where input_key_id is not null;
create unique index task_run_output_key on task_run (output_key_id) where output_key_id is not null;

create table task_event (
  id bigint generated always as identity primary key,
  task_id integer not null references task on delete cascade,
  at timestamptz not null default clock_timestamp(),
  status text not null,
  reason text,
  run integer,
  actor_id integer references app_user on delete set null
);
create index task_event_list on task_event (task_id, id);

create table task_favorite (
  task_id integer not null references task on delete cascade,
  user_id integer not null references app_user on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (user_id, task_id)
);
create index task_favorite_task on task_favorite (task_id);

/* The next ordinal of the tasks of a project. */
alter table project add column task_ordinal integer not null default 0;

/* The run of a task that it is, what its daemon says of it, and what its daemon needs for it (DesiredTask but the token). */
alter table container add column task_run_id integer references task_run;
alter table container add column task_spec jsonb;
alter table container add column task_report jsonb;
alter table container drop constraint container_desired_check;
alter table container add constraint container_desired_check
  check (desired in ('running', 'paused', 'stopped', 'absent'));
create index container_task on container (task_run_id) where task_run_id is not null;

alter table daemon_node add column features text[] not null default '{}';

alter table s3_key drop constraint s3_key_purpose_check;
alter table s3_key add constraint s3_key_purpose_check
  check (purpose in ('person', 'browser', 'share', 'admin', 'task'));
/* It opens only the object whose key is the prefix, not all whose keys begin with it. */
alter table s3_key add column opens_one_object boolean not null default false;

/* Runs since a time, of a workspace and of the Free workspaces of its owners. */
create function task_runs_under(of_workspace integer, owners integer[], since timestamptz) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from task_run r join task t on t.id = r.task_id
  where r.created_at >= since and t.workspace_id in (
      select of_workspace
      union select w.id from membership m join workspace w on w.id = m.workspace_id
        where m.role = 'Owner' and w.plan = 'Free' and m.user_id = any(owners))
$$;
`;
