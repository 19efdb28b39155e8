import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { makeLogBucket } from '../logBucket/make.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { connectDaemon, enrolNode } from '../testing/daemon.ts';
import { aContainer, aSelfHostedServer } from '../testing/factories.ts';
import { deleteOldLines } from './retention.ts';
import { limitSelfHostedLogs } from './selfHostedLimit.ts';
import { aLoggingContainer, line, openLog } from './testing/shipped.ts';

const DAY_NS = 86_400_000_000_000n;
const daysAgo = (days: number): bigint => BigInt(Date.now()) * 1_000_000n - BigInt(days) * DAY_NS;

const at = aLoggingContainer();

it('keeps lines that are not in their log bucket yet, for 35 days, and then shows a gap', async () => {
  const { ctx } = at.logs.app;
  const { server, alice } = at.logs;
  await inTransaction(ctx.db, async (trx) => {
    await makeLogBucket(trx, { id: server, workspaceId: alice.workspaceId, slug: 'server', title: 'Server' });
    // A bucket that is never made: nothing is copied.
    await sql`update storage set location = 'nowhere', next_at = null where instance_id = ${server}`.execute(trx);
  });
  const ship = await at.logs.open(at.container);
  await ship.print(
    line('very old', { timeNs: daysAgo(37) }),
    line('very old, too', { timeNs: daysAgo(36) }),
    line('old', { timeNs: daysAgo(31) }),
    line('new'),
  );
  await at.logs.stored(at.container, 4);
  await deleteOldLines(ctx.db);
  const { lines, gaps } = await at.logs.query(at.container);
  expect(lines.map(({ text }) => text)).toEqual(['old', 'new']);
  expect(gaps).toEqual([
    { afterSeq: 2, from: expect.any(String), to: expect.any(String), reason: expect.stringContaining('35 days') },
  ]);
  await sql`update log_copy set copied_seq = 3 where container_id = ${at.container}`.execute(ctx.db);
  await deleteOldLines(ctx.db);
  expect((await at.logs.query(at.container)).lines.map(({ text }) => text)).toEqual(['new']);
  await ship.daemon.close();
});

it('deletes the oldest lines of a self-hosted server that holds too much, and shows the gap', async () => {
  const { app, alice } = at.logs;
  const { db } = app.ctx;
  const server = await aSelfHostedServer(app.ctx, alice);
  const { token } = await inTransaction(db, (trx) => issueEnrolment(app.ctx, trx, server, 'self-hosted'));
  const daemon = await connectDaemon(app.url, await enrolNode(app.url, token));
  const [older, newer] = [await aContainer(app.ctx, alice, server), await aContainer(app.ctx, alice, server)];
  const old = await openLog(daemon, older, 'older', 1);
  const fresh = await openLog(daemon, newer, 'newer', 2);
  const texts = (from: number) =>
    Array.from({ length: 6_000 }, (_, n) => line(`${n}`.padStart(9), { timeNs: daysAgo(from) }));
  await old.print(...texts(3));
  await fresh.print(...texts(2));
  expect(await keptOf(older)).toBe(60_000n);

  await limitSelfHostedLogs(db, 120_000n);
  expect([await keptOf(older), await keptOf(newer)]).toEqual([60_000n, 60_000n]);
  // In batches of 5,000 lines.
  await limitSelfHostedLogs(db, 100_000n);
  expect([await keptOf(older), await keptOf(newer)]).toEqual([10_000n, 60_000n]);
  const source = { after: 0 };
  const { lines, gaps } = await at.logs.query(older, { cursor: source });
  expect([lines.length, lines[0]?.seq]).toEqual([1_000, 5_001]);
  expect(gaps).toEqual([
    { afterSeq: 5_000, from: expect.any(String), to: expect.any(String), reason: expect.stringContaining('10 GB') },
  ]);
  await limitSelfHostedLogs(db, 50_000n);
  expect([await keptOf(older), await keptOf(newer)]).toEqual([0n, 10_000n]);
  await daemon.close();

  async function keptOf(container: number): Promise<bigint> {
    const { rows } = await sql<{ counted: bigint; kept: bigint }>`
      select kept_bytes as kept, (select coalesce(sum(octet_length(text) + 1), 0)::bigint from log_line
        where log_line.container_id = log_head.container_id) as counted
      from log_head where container_id = ${container}`.execute(db);
    expect(rows[0]!.kept).toBe(rows[0]!.counted);
    return rows[0]!.kept;
  }
});
