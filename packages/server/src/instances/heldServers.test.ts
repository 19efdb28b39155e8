import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { keepAlive } from './lease.ts';
import { daemonBeats } from './readiness.ts';

const SOON = { timeout: 20_000, interval: 20 };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

/** Whoever disables a workspace holds its servers one by one: who waited for one of them with another in hand would meet it crosswise. */
it('keeps leases and hears daemons without waiting for whoever holds one of their servers', async () => {
  const { db } = app.ctx;
  const alice = await app.signUp('Alice');
  const [held, free] = [await aRentedInstance(app.ctx, alice), await aRentedInstance(app.ctx, alice)];
  await sql`update instance set lock_token = gen_random_uuid(), lock_expires_at = now(), status_seen_at = null
    where workspace_id = ${alice.workspaceId}`.execute(db);
  const row = (id: number) =>
    db
      .selectFrom('instance')
      .select(['id', 'lock_token as token', 'status_seen_at', sql<boolean>`lock_expires_at > now()`.as('isKept')])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  const leases = [await row(held), await row(free)].map(({ id, token }) => ({ id, token: token! }));

  const holder = new pg.Client({ connectionString: app.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from instance where id = $1 for no key update', [held]);
    await keepAlive(db, leases, 60_000);
    expect([(await row(held)).isKept, (await row(free)).isKept]).toEqual([false, true]);
    const heard = daemonBeats(app.ctx, [held, free]);
    await expect.poll(async () => (await row(free)).status_seen_at, SOON).not.toBeNull();
    expect((await row(held)).status_seen_at).toBeNull();
    await holder.query('rollback');
    await heard;
  } finally {
    await holder.end();
  }
  await keepAlive(db, leases, 60_000);
  expect(await row(held)).toMatchObject({ isKept: true, status_seen_at: expect.any(Date) });
});
