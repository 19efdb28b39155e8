import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from './database.ts';

describe('createTestDatabase', () => {
  let mine: Awaited<ReturnType<typeof createTestDatabase>>;
  let other: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    [mine, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  });
  afterAll(async () => {
    await Promise.all([mine.drop(), other.drop()]);
  });

  it('gives each caller a migrated database of its own', async () => {
    await ask(mine.url, 'create table only_mine (id int)');
    expect(await ask(mine.url, 'select count(*)::int from migration')).toBeGreaterThan(0);
    expect(await ask(other.url, `select to_regclass('only_mine')`)).toBeNull();
  });

  it('drops the database even while a client is connected', async () => {
    const third = await createTestDatabase();
    const client = new pg.Client({ connectionString: third.url });
    client.on('error', () => {});
    await client.connect();
    await third.drop();
    await expect(ask(third.url, 'select 1')).rejects.toThrow(/does not exist/);
  });
});

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const result = await client.query({ text: sql, rowMode: 'array' });
  await client.end();
  return result.rows[0]?.[0];
}
