import pg from 'pg';

/** As `pg_dump` sets them: whatever the server's defaults are, text is written as it is read, and nothing is cut off. */
const SETTINGS = `
  set client_encoding = 'UTF8';
  set timezone = 'UTC';
  set datestyle = 'ISO';
  set intervalstyle = 'postgres';
  set extra_float_digits = 3;
  set statement_timeout = 0;
  set lock_timeout = 0;
  set idle_in_transaction_session_timeout = 0`;

/** A connection that copies rows out of or into a database. Its loss is told by the next query. */
export async function openPlainSession(databaseUrl: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: name });
  client.on('error', () => {});
  await client.connect();
  await client.query(SETTINGS);
  return client;
}
