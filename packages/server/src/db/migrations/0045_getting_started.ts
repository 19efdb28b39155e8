/** The checklist of first steps is for people who are new: those who have an account already do not see it. */
export const sql = `
alter table app_user add column getting_started_closed_at timestamptz, add column log_seen_at timestamptz;
update app_user set getting_started_closed_at = now();
`;
