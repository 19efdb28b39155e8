import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSeed } from './random.ts';
import { runRaces } from './refresh.ts';
import { sayRaces, sayRevocations } from './refreshReport.ts';
import { runRevocations, WITH_PORTS } from './revocation.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp(WITH_PORTS);
});
afterAll(() => app?.close());

it('tabs that race for new tokens stay signed in, thieves do not', { timeout: 400_000 }, async () => {
  const seed = newSeed();
  console.log(`refresh: seed ${seed}`);
  const { userId } = await app.signUp();
  expect(sayRaces(await runRaces(app, userId, 50, seed))).toEqual([]);
});

/** The long run holds it to two seconds; here ten other tests run beside it. */
const AT_ALL_MS = 20_000;

it('what is taken away is refused, on open streams and by cookies too', { timeout: 400_000 }, async () => {
  expect(sayRevocations(await runRevocations(app, await app.signUp(), 2), AT_ALL_MS)).toEqual([]);
});
