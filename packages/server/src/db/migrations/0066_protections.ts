/** The protections that each container was created with, as its daemon reports them. Null: it has not. */
export const sql = `
alter table container add column protections text[];
`;
