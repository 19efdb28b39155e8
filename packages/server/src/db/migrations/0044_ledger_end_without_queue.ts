/**
 * Where the ledger ends, without a lock on the table: whoever waited for one held up every booking that came after, and
 * PostgreSQL's search for a deadlock had to untangle them after a second. An id is given out under the lock of the insert, so
 * whoever was given one up to `newest` holds that lock when it has been read, or has ended.
 */
export const sql = `
create or replace function ledger_end() returns bigint language plpgsql security definer set search_path = public, pg_temp as $$
declare
  newest bigint := (select coalesce(max(last_value), 0) from pg_sequences
    where format('%I.%I', schemaname, sequencename)::regclass = pg_get_serial_sequence('journal', 'id')::regclass);
  writers text[] := array(select virtualtransaction from pg_locks
    where locktype = 'relation' and relation = 'journal'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid());
begin
  while exists (select from pg_locks where locktype = 'relation' and relation = 'journal'::regclass
    and mode = 'RowExclusiveLock' and granted and virtualtransaction = any (writers)) loop
    perform pg_sleep(0.01);
  end loop;
  return (select coalesce(max(id), 0) from journal where id <= newest);
end $$;
`;
