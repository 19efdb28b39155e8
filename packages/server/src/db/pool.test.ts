import { expect, it } from 'vitest';
import { createTestDatabase } from '../testing/database.ts';
import { openPool } from './pool.ts';

it('closes its connections when it is closed, also when it was never used', async () => {
  const { url, drop } = await createTestDatabase();
  const pool = openPool(url);
  try {
    await pool.pg.query('select 1');
    expect(pool.pg.totalCount).toBe(1);
  } finally {
    await pool.close();
  }
  expect(pool.pg.totalCount).toBe(0);
  await drop();
});
