/** Git over SSH finds the people of a key by its fingerprint, at each login and during transfers. */
export const sql = `
create index ssh_key_fingerprint on ssh_key (fingerprint);
`;
