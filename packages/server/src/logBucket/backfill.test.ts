import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrate } from '../db/migrate.ts';
import { startTestApp } from '../testing/app.ts';
import { aContainer, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import { objectsOf, zstdcat } from './testing/readBucket.ts';

it('makes log buckets for servers that were rented before there were any, and copies their logs', async () => {
  const before = await startTestApp({}, { role: 'api' });
  const { ctx } = before;
  const alice = await before.signUp();
  const open = await aRentedInstance(ctx, alice);
  const closed = await aRentedInstance(ctx, alice, 'terminated');
  await aRentedInstance(ctx, alice, 'creation failed');
  await sql`update instance set closed_at = now() where id = ${closed}`.execute(ctx.db);
  const containers = [];
  for (const server of [open, closed, await aSelfHostedServer(ctx, alice)]) {
    const container = await aContainer(ctx, alice, server);
    containers.push(container);
    await sql`insert into log_head (container_id, last_seq) values (${container}, 3)`.execute(ctx.db);
    // Line 1 is older than what is kept.
    await sql`insert into log_line (container_id, seq, time_ns, stderr, text)
      select ${container}, seq, 1800000000000000000, false, 'line ' || seq from generate_series(2, 3) as seq`.execute(
      ctx.db,
    );
  }
  await sql`drop table log_chunk, log_copy`.execute(ctx.db);
  await sql`alter table log_head drop column kept_bytes`.execute(ctx.db);
  await sql`delete from migration where name = '0050_log_buckets'`.execute(ctx.db);

  expect(await migrate(before.databaseUrl)).toHaveLength(1);
  const storages = await ctx.db.selectFrom('storage').selectAll().execute();
  expect(storages.map(({ instance_id }) => instance_id)).toEqual([open]);
  expect(storages[0]).toMatchObject({ kind: 'log', status: 'renting', size_gb: 100, workspace_id: alice.workspaceId });
  expect(storages[0]!.slug).toMatch(/^log-server-\d+-[a-z0-9]{6}$/);
  const kept = await ctx.db.selectFrom('log_head').select('kept_bytes').execute();
  expect(kept.map(({ kept_bytes }) => kept_bytes)).toEqual([14n, 14n, 14n]);

  const worker = await startTestApp(
    { DATABASE_URL: before.databaseUrl, STAGI_DATA: before.dataDir, LOG_COPY_SECONDS: '1' },
    { role: 'worker,s3' },
  );
  const records = async () => zstdcat((await objectsOf(worker.ctx, storages[0]!.id)).values());
  await expect.poll(records, { timeout: 60_000 }).toEqual([
    { seq: 2, time: '2027-01-15T08:00:00.000000000Z', stream: 'stdout', text: 'line 2' },
    { seq: 3, time: '2027-01-15T08:00:00.000000000Z', stream: 'stdout', text: 'line 3' },
  ]);
  await worker.close();
  await before.close();
});
