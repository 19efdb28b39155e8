/** What each container was created with, as its daemon reports it. Null: it has not. */
export const sql = `
alter table container add column protections text[];
`;
