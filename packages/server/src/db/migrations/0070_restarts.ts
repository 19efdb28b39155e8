/** Restarts of containers by their restart policy, and by when a container that ended again and again counts as steady. */
export const sql = `
alter table container
  add column restarts integer not null default 0,
  add column last_exit_code integer,
  add column last_ended_at timestamptz,
  add column next_try_at timestamptz,
  add column looping_until timestamptz;
create index container_looping on container (looping_until) where looping_until is not null;
`;
