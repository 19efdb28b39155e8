import { freePort } from '@stagi/contract/testing/freePort.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { sample, scrapeMetrics } from './testing/scrape.ts';

/** The metrics of the database are cached for five seconds. */
const FRESH = { timeout: 60_000, interval: 250 };

let app: TestApp;
let address: string;
beforeAll(async () => {
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  app = await startTestApp({ METRICS_PORT: String(port) });
  await aRentedInstance(app.ctx, await app.signUp());
});
afterAll(() => app?.close());

it('the metrics query the database once for many scrapes', async () => {
  const lag = async () => sample(await scrapeMetrics(address), 'stagi_reconcile_lag_seconds');
  const lagBehind = (seconds: number) =>
    sql`update instance set lock_expires_at = null, lock_token = null, next_at = now() - interval '1 second' * ${seconds},
      provider = null, kind = 'self-hosted'`.execute(app.ctx.db);
  await lagBehind(90);
  await expect.poll(lag, FRESH).toBeGreaterThanOrEqual(90);
  // Just cached, so that changes in the database do not show in scrapes for a while.
  const before = await lag();
  await lagBehind(900);
  const again = await Promise.all(Array.from({ length: 50 }, lag));
  expect(again).toEqual(again.map(() => before));
});
