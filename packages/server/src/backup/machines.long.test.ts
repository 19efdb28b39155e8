import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeCloudProcess, spawnFakeCloud } from '../providers/fake/control.ts';
import { sweepClouds } from '../strays/sweep.ts';
import { startTestApp } from '../testing/app.ts';
import { builtDaemonEnv, rentServer, waitForStatus } from '../testing/cloudApp.ts';
import { done, openPlaces, withPlatform } from './testing/places.ts';

const places = openPlaces();
const folder = mkdtempSync(join(tmpdir(), 'stagi-fake-cloud-'));
let cloud: FakeCloudProcess;
beforeAll(async () => {
  cloud = await spawnFakeCloud({ statePath: join(folder, 'state.json'), provisionMs: 5_000 });
  await cloud.control.clock({ scale: 50 });
});
afterAll(async () => {
  await cloud?.kill();
  await places.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** States of the machines of a server that are not gone. */
async function machinesOf(id: number): Promise<string[]> {
  const { machines } = await cloud.control.report();
  return machines
    .filter(({ tags, state }) => tags.resource === String(id) && state !== 'gone')
    .map(({ state }) => state);
}

it('neither adopts nor deletes a machine wrongly', async () => {
  const clouds = { FAKE_CLOUD_URL: cloud.url, ...builtDaemonEnv(folder), QUARANTINE_SECONDS: '1' };
  const app = await startTestApp(clouds);
  const alice = await app.signUp();
  await app.ctx.db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
  const [kept, ended] = [await rentServer(alice), await rentServer(alice)];
  for (const { id } of [kept, ended]) await waitForStatus(alice, id, 'online');

  const place = places.newFolder();
  const source = { DATABASE_URL: app.databaseUrl, STAGI_DATA: app.dataDir, STAGI_ENVIRONMENT: 'test' };
  await done({ ...source, PORT: String(app.ctx.config.port) }, 'backup', place);
  const later = await rentServer(alice);
  await waitForStatus(alice, later.id, 'online');
  await alice.client(api.instances.terminate, { id: ended.id });
  await waitForStatus(alice, ended.id, 'terminated');
  const target = { ...(await places.newPlace(app.dataDir)), ...clouds };
  await app.close();

  await done(target, 'restore', place);
  const before = await Promise.all([kept, ended, later].map(({ id }) => machinesOf(id)));
  expect(before).toEqual([['running'], [], ['running']]);
  await withPlatform(target, async () => {});
  await done(target, 'release', '--yes');
  await withPlatform(target, async ({ ctx }) => {
    const statusOf = async (id: number) =>
      (await ctx.db.selectFrom('instance').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status;
    await expect.poll(() => statusOf(ended.id), { timeout: 240_000 }).toBe('error');
    await sweepClouds(ctx);
    await sql`update stray set first_seen_at = first_seen_at - interval '30 days'`.execute(ctx.db);
    for (let n = 0; n < 3; n++) await sweepClouds(ctx);
    const { rows } = await sql<object>`select reason, instance_id, deletions, decision from stray
      where gone_at is null`.execute(ctx.db);
    expect(rows).toEqual([{ reason: 'unknown', instance_id: null, deletions: 0, decision: null }]);
    expect(await statusOf(kept.id)).toBe('online');
    // The number of the machine that was rented after the backup is not given again.
    const { rows: numbers } = await sql<{ next: number }>`
      select nextval(pg_get_serial_sequence('instance', 'id'))::int as next`.execute(ctx.db);
    expect(numbers[0]!.next).toBeGreaterThan(later.id);
  });
  expect(await Promise.all([kept, ended, later].map(({ id }) => machinesOf(id)))).toEqual(before);
});
