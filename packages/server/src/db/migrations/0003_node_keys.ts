/** A node's key is replaced from time to time: since when it holds, and the one before while that is still let in. */
export const sql = `
alter table daemon_node
  add column key_since timestamptz,
  add column previous_jwk jsonb,
  add column previous_until timestamptz;
update daemon_node set key_since = enrol_used_at where public_jwk is not null;
`;
