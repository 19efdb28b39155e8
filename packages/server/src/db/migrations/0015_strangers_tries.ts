/**
 * Tries of a mailed code by somebody who does not name the flow it was mailed for: they are counted apart, so that
 * strangers cannot use up those of whoever asked for it.
 */
export const sql = `
alter table pending_registration add column stranger_tries integer not null default 0;
alter table password_reset add column stranger_tries integer not null default 0;
`;
