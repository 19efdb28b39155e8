/** Models that engines serve in containers. */
export const sql = `
create table model_endpoint (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  title text not null,
  /* Its repository on the hub, and its name as it was then. */
  model_id text not null,
  model_title text not null,
  quality text not null,
  precision text not null,
  repository text not null,
  variant text,
  engine text not null,
  gpu_count integer not null,
  context integer,
  /* On the host, and inside the container. */
  host_port integer not null,
  container_port integer not null,
  instance_id integer not null references instance,
  /* Null until its server is online. */
  container_id integer references container,
  /* The container that is to be made then. */
  wanted_sealed text,
  /* The key of its API. */
  key_sealed text,
  server_deadline timestamptz,
  /* Why it will never be. */
  failed_reason text,
  failed_at timestamptz,
  /* Evidence: when the engine was last asked, when it last answered, and what was wrong since. */
  checked_at timestamptz,
  answered_at timestamptz,
  check_error text,
  deleted_at timestamptz,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  check (container_id is not null or wanted_sealed is not null or failed_reason is not null or deleted_at is not null)
);
create index model_endpoint_list on model_endpoint (workspace_id, id desc) where deleted_at is null;
create index model_endpoint_waiting on model_endpoint (instance_id)
  where container_id is null and failed_reason is null and deleted_at is null;
create index model_endpoint_of_container on model_endpoint (container_id);
`;
