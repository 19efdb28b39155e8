/** What lists, counts and clean-ups look for where closed, deleted and used rows pile up. */
export const sql = `
create index instance_state on instance (kind, status) where closed_at is null;
create index container_state on container (status) where deleted_at is null;
create index container_all on container (workspace_id, created_at desc, id desc);
/* Deleting a session deletes its tokens, and each looks for those that came of it. */
create index refresh_token_parent on refresh_token (parent_id) where parent_id is not null;
create index refresh_token_sealed on refresh_token (used_at) where child_sealed is not null;
`;
