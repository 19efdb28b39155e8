import pg from 'pg';
import { takeBackupLock } from '../db/backupLock.ts';

/** As a backup runs from now until `end`. */
export async function beginBackup(databaseUrl: string): Promise<{ end(): Promise<void> }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  if (!(await takeBackupLock(client))) throw new Error('another backup runs');
  return { end: () => client.end() };
}
