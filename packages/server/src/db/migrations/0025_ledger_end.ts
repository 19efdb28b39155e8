/** Where the ledger ends now: everything up to there is committed or never will be, so that a seal misses nothing. */
export const sql = `
create function ledger_end() returns bigint language plpgsql security definer set search_path = public, pg_temp as $$
begin
  /* Waits for whoever is writing a journal. Released with the transaction, which does nothing else. */
  lock table journal in share mode;
  return (select coalesce(max(id), 0) from journal);
end $$;
`;
