/** Engines of served models are asked by a worker, and made to fetch their model by one. */
export const sql = `
alter table model_endpoint
  /* When its engine is asked next. */
  add column check_due timestamptz not null default now(),
  /* Its container as it was when it was last looked at. */
  add column checked_container text,
  /* The status that was last announced. */
  add column announced_status text,
  /* The last line of the run that ended last. */
  add column last_line text,
  /* An engine that fetches its model on request: since when it is to, and who sees to it until when. */
  add column load_asked_at timestamptz,
  add column load_lease uuid,
  add column load_lease_until timestamptz,
  add column load_error text,
  add column load_failed_at timestamptz;
create index model_endpoint_check on model_endpoint (check_due)
  where container_id is not null and failed_reason is null and deleted_at is null;
create index model_endpoint_load on model_endpoint (load_asked_at) where load_asked_at is not null;
`;
