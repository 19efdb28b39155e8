/** Keys that were generated here; the failed steps of containers; the runs of a container. */
export const sql = `
alter table ssh_key add column generated boolean not null default false;

/* The step that failed last, as in the contract, and the greatest fraction of a download so far. */
alter table container add column failed_step jsonb;

create table container_run (
  container_id integer not null references container on delete cascade,
  /* From 1: the runs that the daemon has seen. */
  number integer not null,
  started_at timestamptz not null,
  /* Log lines from this time on are of this run. */
  from_ns bigint not null,
  ended_at timestamptz,
  exit_code integer,
  primary key (container_id, number)
);
`;
