/** Changes of containers: which specification is wanted, which one was seen, and how far the change is. */
export const sql = `
/* The wanted specification, and the highest number that was given out. A number is used for one specification only. */
alter table container add column spec_no integer not null default 1;
alter table container add column last_spec_no integer not null default 1;

/* While a change waits for its server: the specification that the server has (AppliedSpec), and how far it is. */
alter table container add column applied_spec jsonb;
alter table container add column edit_asked_at timestamptz;
alter table container add column edit_deadline timestamptz;
alter table container add column edit_progress jsonb;
alter table container add column edit_failed_step jsonb;
alter table container add constraint container_edit_check check ((edit_asked_at is null) = (applied_spec is null));

/* Null: the 1024 MB that every container had before. */
alter table container add column shm_mb integer;
alter table container add column health_check jsonb;
/* What Docker says of it. */
alter table container add column health text check (health in ('starting', 'healthy', 'unhealthy'));
/* Names of the variables whose values are masked in logs and never become part of a template. */
alter table container add column env_secret text[] not null default '{}';
`;
