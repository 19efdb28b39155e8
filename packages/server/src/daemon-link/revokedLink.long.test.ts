import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment, revokeNode } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { dial, makeKey, postEnrolment } from '../testing/daemon.ts';
import { aRentedInstance } from '../testing/factories.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

it('a revoked daemon is disconnected at once with the reason, and again when it reconnects', async () => {
  const id = await aRentedInstance(app.ctx, await app.signUp());
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  const key = makeKey();
  const { body } = await postEnrolment(app.url, token, key);
  const node = { ...key, node: body.node!, commandKey: app.ctx.keys.command.publicJwk };
  const daemon = await dial(app.url, node);
  await daemon.next('welcome');
  const begun = performance.now();
  await inTransaction(app.ctx.db, (trx) => revokeNode(app.ctx, trx, id, 'The server was deleted'));
  expect(await daemon.next('revoked')).toMatchObject({ reason: 'The server was deleted' });
  expect((await daemon.closed).code).toBe(4403);
  const ms = performance.now() - begun;
  console.log(`revoked link cut after ${ms.toFixed(0)} ms, n = 1`);
  expect(ms).toBeLessThan(2_000);
  const back = await dial(app.url, node);
  expect(await back.next('revoked')).toMatchObject({ reason: 'The server was deleted' });
});
