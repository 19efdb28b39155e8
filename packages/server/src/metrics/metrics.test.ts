import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { encodeRecord } from '@stagi/contract/frames.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode } from '../testing/daemon.ts';
import { aContainer, aRentedInstance, aStray } from '../testing/factories.ts';
import { PASSWORD, type Person } from '../testing/person.ts';
import { readPlatformMetrics } from './platformMetrics.ts';
import { sample, scrapeMetrics } from './testing/scrape.ts';

describe('the metrics', () => {
  let app: TestApp;
  let alice: Person;
  let address: string;

  beforeAll(async () => {
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    app = await startTestApp({ METRICS_PORT: String(port) });
    alice = await app.signUp();
  });
  afterAll(async () => {
    await app?.close();
  });

  const scrape = (): Promise<string> => scrapeMetrics(address);

  it('include calls, pools, queue, servers, containers, links and errors', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    await aStray(app.ctx);
    const container = await aContainer(app.ctx, alice, server);
    await sql`update instance set next_at = now() - interval '90 seconds', lock_token = gen_random_uuid(),
      lock_expires_at = now() + interval '1 hour' where id = ${server}`.execute(app.ctx.db);
    await alice.client(api.user.profile, {});
    await expect(alice.client(api.instances.view, { id: 999_999 })).rejects.toThrow('Not found');
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, server, 'rented'));
    const daemon = await connectDaemon(app.url, await enrolNode(app.url, token));
    daemon.send({ type: 'log-open', stream: 1, containerId: container, epoch: 'docker-1' });
    await daemon.next('log-resume');
    const printed = [...'abc'].map((text) => ({
      timeNs: BigInt(Date.now() - 1_000) * 1_000_000n,
      stream: 'stdout' as const,
      partial: false,
      text: Buffer.from(text),
    }));
    daemon.sendBytes(1, 0, Buffer.concat(printed.map(encodeRecord)));
    await daemon.next('credit');

    const text = await scrape();
    expect(sample(text, 'stagi_call_seconds_count', 'call="/frontend-api/user/signup-form"', 'status="200"')).toBe(1);
    expect(sample(text, 'stagi_call_seconds_count', 'instance-rented/view', 'status="404"')).toBe(1);
    expect(sample(text, 'stagi_database_up')).toBe(1);
    for (const pool of ['pool="platform"', 'pool="calls"']) {
      expect(sample(text, 'stagi_pool_connections', pool, 'state="total"')).toBeGreaterThan(0);
      expect(sample(text, 'stagi_pool_waiting', pool)).toBe(0);
    }
    expect(sample(text, 'stagi_jobs_waiting', 'queue="mail.send"')).toBeLessThanOrEqual(1);
    expect(sample(text, 'stagi_reconcile_lag_seconds')).toBe(0);
    expect(sample(text, 'stagi_metering_lag_seconds')).toBeGreaterThanOrEqual(0);
    expect(sample(text, 'stagi_instances', 'kind="rented"', 'status="online"')).toBe(1);
    expect(sample(text, 'stagi_strays', 'reason="unknown"')).toBe(1);
    expect(sample(text, 'stagi_containers{')).toBe(1);
    expect(sample(text, 'stagi_links_open')).toBe(1);
    expect(sample(text, 'stagi_mails_unsent')).toBeUndefined();
    expect(sample(text, 'stagi_calls_inside')).toBe(0);
    expect(sample(text, 'stagi_log_lines_total')).toBe(3);
    expect(sample(text, 'stagi_log_copies_failing')).toBe(0);
    expect(sample(text, 'stagi_log_lag_seconds_sum')).toBeGreaterThanOrEqual(1);
    expect(sample(text, 'stagi_log_messages_total', 'level="error"')).toBe(0);
    // In seconds: nanoseconds would be millions.
    expect(sample(text, 'stagi_event_loop_delay_seconds', 'quantile="0.99"')).toBeLessThan(1_000);
    expect(sample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(text).not.toContain('NaN');

    await daemon.close();
    await expect.poll(async () => sample(await scrape(), 'stagi_links_open')).toBe(0);
    console.log(`metrics: ${text.split('\n').length} lines, ${text.length} bytes`);
  });

  it('count unsent mails where mail is configured', async () => {
    await app.anonymous(api.auth.register, { name: 'Mallory', email: 'mallory@example.com', password: PASSWORD });
    const { mails } = await readPlatformMetrics(app.ctx.db, true);
    expect(mails).toMatchObject({ waiting: 1, failed: 0 });
    expect(mails?.oldestSeconds).toBeGreaterThan(0);
    expect((await readPlatformMetrics(app.ctx.db, false)).mails).toBeNull();
  });

  it('include the lag of metering', async () => {
    const { meteringLagSeconds } = await inTransaction(app.ctx.db, async (trx) => {
      await sql`update workspace_meter set metered_at = now() - interval '400 seconds'`.execute(trx);
      return readPlatformMetrics(trx, false);
    });
    expect(meteringLagSeconds).toBeGreaterThanOrEqual(400);
  });

  it('are all explained in the runbook', async () => {
    const runbook = readFileSync(join(import.meta.dirname, '../../../../docs/RUNBOOK.md'), 'utf8');
    const explained = new Set(runbook.match(/\b(stagi|process|nodejs)_[a-z0-9_]+\b/g));
    const told = new Set((await scrape()).matchAll(/^# TYPE (\S+) /gm).map(([, name]) => name!));
    expect([...explained].toSorted()).toEqual([...told].toSorted());
    console.log(`runbook: n = ${told.size} metrics, all explained`);
  });

  it('are served only at their own address', async () => {
    expect((await fetch(`${address}/`)).status).toBe(404);
    expect((await fetch(`${address}/metrics`, { method: 'POST' })).status).toBe(404);
    expect(await (await fetch(`${app.url}/metrics`)).text()).not.toContain('stagi_');
  });
});
