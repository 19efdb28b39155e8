/** Templates of containers, credentials of image registries, results of commands to daemons. */
export const sql = `
create table container_template (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  title text not null,
  description text,
  /* TemplateFields of the contract. */
  fields jsonb not null,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  unique (workspace_id, title)
);
create index container_template_list on container_template (workspace_id, id desc);

create table registry_credential (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  /* As image references name it: docker.io, ghcr.io, registry.example:5000. */
  host text not null,
  username text not null,
  secret_sealed text not null,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  unique (workspace_id, host)
);

/* What a command has brought, such as the images that would be removed. */
alter table daemon_command add column result jsonb;
create index daemon_command_recent on daemon_command (instance_id, created_at desc);
`;
