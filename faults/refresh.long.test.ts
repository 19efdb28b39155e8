import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSeed } from './random.ts';
import { runRaces } from './refresh.ts';
import { reportRaces, reportRevocations } from './refreshReport.ts';
import { runRevocations, WITH_PORTS } from './revocation.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp(WITH_PORTS);
});
afterAll(() => app?.close());

it('keeps tabs signed in that race for a token refresh, and ends sessions with stolen tokens', {
  timeout: 400_000,
}, async () => {
  const seed = newSeed();
  console.log(`refresh: seed ${seed}`);
  const { userId } = await app.signUp();
  expect(reportRaces(await runRaces(app, userId, 50, seed))).toEqual([]);
});

/** The full run requires two seconds; here ten other tests run at the same time. */
const AT_ALL_MS = 20_000;

it('refuses revoked access, also on open streams and by cookies', { timeout: 400_000 }, async () => {
  expect(reportRevocations(await runRevocations(app, await app.signUp(), 2), AT_ALL_MS)).toEqual([]);
});
