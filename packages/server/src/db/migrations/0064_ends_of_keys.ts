/** The session that an access key was made in: of the web app, whose links end with it, or of an app that was let in. */
export const sql = `
/* Without a foreign key: sessions are deleted in time, and what a key was made in stays. */
alter table s3_key add column session_id uuid;
create index s3_key_session on s3_key (session_id) where session_id is not null and revoked_at is null;
create index s3_key_token on s3_key (api_token_id) where api_token_id is not null and revoked_at is null;
alter table s3_key add constraint s3_key_credential check (num_nonnulls(api_token_id, session_id) <= 1);
`;
