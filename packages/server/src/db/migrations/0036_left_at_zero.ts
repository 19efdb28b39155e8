/** What a workspace had left when its balance ran out: only what comes on top of it is a credit that starts anything again. */
export const sql = `
alter table workspace_meter
  /* Micro-STAGI: of a reserve, or nothing; charges take it down. */
  add column left_at_zero bigint not null default 0;
`;
