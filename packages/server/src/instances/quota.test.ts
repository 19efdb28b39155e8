import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockAvailableBalance } from '../billing/spendOrder.ts';
import { aKey, type CloudApp, rentServer, startCloudApp } from '../testing/cloudApp.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';

let app: CloudApp;
beforeAll(async () => {
  app = await startCloudApp();
});
afterAll(() => app?.close());

it('gives the last place of a paid plan to one of two concurrent rents', async () => {
  const alice = await app.signUp();
  await app.ctx.db.updateTable('workspace').set({ plan: 'Individual' }).where('id', '=', alice.workspaceId).execute();
  for (let n = 0; n < 9; n += 1) await aRentedInstance(app.ctx, alice, 'stopped');
  const sshKeyId = await aKey(alice);
  // Both start before either has committed.
  const holder = await app.ctx.db.startTransaction().execute();
  await lockAvailableBalance(holder, alice.workspaceId);
  const renting = Promise.allSettled([rentServer(alice, { sshKeyId }), rentServer(alice, { sshKeyId })]);
  await waitForBlockedStatements(app.ctx.db, 2);
  await holder.commit().execute();
  const answers = await renting;
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  expect(refusals).toMatchObject([{ status: 200, message: 'CPU-only servers that your plan allows at a time: 10' }]);
  expect((await alice.client(api.instances.list, {})).totalCount).toBe(10);
});
