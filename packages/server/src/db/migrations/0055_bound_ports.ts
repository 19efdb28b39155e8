/** How each server has bound the ports of a container, as its daemon reports it. Null: it has not. */
export const sql = `
alter table container add column bound_ports jsonb;
`;
