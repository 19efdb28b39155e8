import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { memberUrl } from './memberRole.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('run with the rights of the tables’ owner only over tables of the platform', async () => {
  const { rows } = await app.ctx.pg.query<{ name: string; path: string | null }>(
    `select p.oid::regprocedure::text as name,
       (select substr(setting, 13) from unnest(p.proconfig) setting where setting like 'search_path=%') as path
     from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef order by 1`,
  );
  console.log(`functions with the rights of their owner: n = ${rows.length}`);
  expect(rows.length).toBeGreaterThan(0);
  for (const { name, path } of rows) expect.soft(path, name).toBe('public, pg_temp');
});

it('write to the real audit log, whatever the caller’s session puts in the search path', async () => {
  const alice = await app.signUp('Alice');
  const client = new pg.Client({ connectionString: memberUrl(app.databaseUrl) });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(`select set_config('stagi.workspace', $1, true)`, [String(alice.workspaceId)]);
    await client.query(`create temporary table audit_head (chain integer primary key, seq bigint not null default 0,
      hash bytea not null default '\\x', first_seq bigint default 1, first_prev_hash bytea default '\\x')`);
    await client.query(
      `create temporary table audit_actor (chain integer, user_id integer, primary key (chain, user_id))`,
    );
    await client.query('insert into audit_head (chain, seq) values ($1, 7)', [alice.workspaceId]);
    await client.query(
      `insert into audit (workspace_id, actor_id, credential, action, outcome) values ($1, $2, 'session', 'client/edit', 'done')`,
      [alice.workspaceId, alice.userId],
    );
    const { rows } = await client.query<{ seq: string }>('select seq from audit where chain = $1', [alice.workspaceId]);
    expect(rows.map(({ seq }) => String(seq))).toEqual(['1']);
  } finally {
    await client.end();
  }
});
