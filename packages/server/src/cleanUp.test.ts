import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { createTestDatabase } from './testing/database.ts';

/** Tables whose rows have an end and stay all the same, with the reason. */
const STAYS: Record<string, string> = {
  api_token: 'its owner sees it among the archived ones',
  promo_code: 'operators see what became of it',
  daemon_command: 'daemon-link/worker.ts deletes it',
  step_up_code: 'at most one of each session, and goes with it',
};

it('every table whose rows expire is cleaned up, or named with the reason why it stays', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ table: string }>(`
    select table_name as "table" from information_schema.columns
    where table_schema = 'public' and column_name = 'expires_at' order by 1`);
  await client.end();
  await database.drop();
  const code = readFileSync(join(import.meta.dirname, 'cleanUp.ts'), 'utf8');
  const expiring = rows.map(({ table }) => table);
  expect(expiring.length).toBeGreaterThan(0);
  expect(
    expiring.filter((table) => !STAYS[table] && !new RegExp(`'${table}'`).test(code)),
    'clean up in cleanUp.ts',
  ).toEqual([]);
});
