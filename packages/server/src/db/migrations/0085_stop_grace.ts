/** The time that programs have to end when they are stopped. */
export const sql = `
alter table container add column stop_grace_seconds integer not null default 30
  check (stop_grace_seconds between 10 and 300);
alter table task add column stop_grace_seconds integer not null default 30 check (stop_grace_seconds between 10 and 300);
`;
