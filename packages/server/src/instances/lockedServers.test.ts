import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renewLeases } from '../reconcile/lease.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { recordHeartbeats } from './daemonSignals.ts';

const SOON = { timeout: 60_000, interval: 20 };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

/** Disabling a workspace locks all its servers. A statement that locks several servers and waits for one would deadlock with it. */
it('renews leases and records heartbeats without waiting for a locked server', async () => {
  const { db } = app.ctx;
  const alice = await app.signUp('Alice');
  const [held, free] = [await aRentedInstance(app.ctx, alice), await aRentedInstance(app.ctx, alice)];
  await sql`update instance set lock_token = gen_random_uuid(), lock_expires_at = now(), status_seen_at = null
    where workspace_id = ${alice.workspaceId}`.execute(db);
  const row = (id: number) =>
    db
      .selectFrom('instance')
      .select(['id', 'lock_token as token', 'status_seen_at', sql<boolean>`lock_expires_at > now()`.as('isRenewed')])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  const leases = [await row(held), await row(free)].map(({ id, token }) => ({ id, token: token! }));

  const holder = new pg.Client({ connectionString: app.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from instance where id = $1 for no key update', [held]);
    await renewLeases(db, 'instance', leases, 60_000);
    expect([(await row(held)).isRenewed, (await row(free)).isRenewed]).toEqual([false, true]);
    const heard = recordHeartbeats(app.ctx, [held, free]);
    await expect.poll(async () => (await row(free)).status_seen_at, SOON).not.toBeNull();
    expect((await row(held)).status_seen_at).toBeNull();
    await holder.query('rollback');
    await heard;
  } finally {
    await holder.end();
  }
  await renewLeases(db, 'instance', leases, 60_000);
  expect(await row(held)).toMatchObject({ isRenewed: true, status_seen_at: expect.any(Date) });
});
