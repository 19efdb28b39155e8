import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { LedgerRun } from '@stagi/contract/ledger.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPlatformMetrics } from '../metrics/platformMetrics.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const COMMAND = join(import.meta.dirname, '../../../../scripts/ledger.ts');

let app: TestApp;
let operator: Person;

beforeAll(async () => {
  app = await startTestApp();
  operator = await app.signUp('Olga');
  await makeOperator(app.ctx, operator);
});
afterAll(() => app?.close());

async function ended(id: number): Promise<LedgerRun> {
  for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const { entities } = await operator.client(api.ledger.list, {});
    const run = entities.find((one) => one.id === id);
    if (run?.endedAt) return run;
    if (Date.now() > deadline) throw new Error(`run ${id} has not ended: ${JSON.stringify(run)}`);
  }
}

it('begins one run for all who ask at a time', async () => {
  // Nobody carries it out, so that it does not end between two of them.
  const waiting = await startTestApp({}, { role: 'api' });
  try {
    const asking = await waiting.signUp('Olga');
    await makeOperator(waiting.ctx, asking);
    const asked = await Promise.all(Array.from({ length: 8 }, () => asking.client(api.ledger.verify, {})));
    expect(new Set(asked.map(({ entity }) => entity.id)).size).toBe(1);
    expect((await asking.client(api.ledger.list, {})).totalCount).toBe(1);
  } finally {
    await waiting.close();
  }
});

it('verifies in the background when an operator asks', { timeout: 90_000 }, async () => {
  const { entity } = await operator.client(api.ledger.verify, {});
  const run = await ended(entity.id);
  expect(run).toMatchObject({ state: 'sound', cause: 'operator', askedBy: { name: 'Olga' }, findings: [] });
  expect(run.journals).toBeGreaterThan(0);
  expect((await operator.client(api.ledger.list, {})).lastIsSound).toBe(true);
});

it('tells operators, metrics and the command line when it does not add up', { timeout: 90_000 }, async () => {
  const credit = `workspace:${operator.workspaceId}:credit`;
  const client = new pg.Client({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
  await client.connect();
  const shift = (by: number) => client.query('update account set balance = balance + $1 where code = $2', [by, credit]);
  try {
    await shift(1);
    const { entity } = await operator.client(api.ledger.verify, {});
    const run = await ended(entity.id);
    expect(run).toMatchObject({ state: 'unsound' });
    expect(run.findings).toContainEqual({
      about: 'account',
      id: credit,
      problem: expect.stringContaining('its balance'),
    });
    expect((await operator.client(api.ledger.list, {})).lastIsSound).toBe(false);
    expect((await readPlatformMetrics(app.ctx.db, false)).ledger).toMatchObject({ sound: false });
    expect(command()).toMatchObject({ status: 1, stdout: expect.stringContaining(`account ${credit}: its balance`) });
    await shift(-1);
    expect(command()).toMatchObject({ status: 0, stdout: expect.stringMatching(/journals.*; 0 problems/) });
    expect((await operator.client(api.ledger.list, {})).lastIsSound).toBe(true);
  } finally {
    await client.end();
  }
});

it('begins another run when the one before died with its process', async () => {
  const { db } = app.ctx;
  await sql`insert into ledger_run (cause, state, touched_at) values ('cron', 'running', now() - interval '3 minutes')`.execute(
    db,
  );
  const { entity } = await operator.client(api.ledger.verify, {});
  expect(entity.cause).toBe('operator');
  expect(await ended(entity.id)).toMatchObject({ state: 'sound' });
});

function command() {
  const { status, stdout } = spawnSync(process.execPath, [COMMAND, 'verify'], {
    encoding: 'utf8',
    env: { ...process.env, DATABASE_URL: app.databaseUrl },
  });
  return { status, stdout };
}
