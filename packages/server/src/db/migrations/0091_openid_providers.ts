/** Identity providers have the names that the operator gives them. */
export const sql = `
alter table second_factor_ticket drop constraint second_factor_ticket_auth_type_check;
alter table second_factor_ticket add check (auth_type ~ '^[a-z0-9-]{1,20}$');
`;
