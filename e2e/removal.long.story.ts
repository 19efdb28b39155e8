import { api } from '@stagi/contract/api.ts';
import { aMember } from '@stagi/server/src/app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { expect, test } from './fixtures.ts';
import { freezerOf } from './freezer.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { expectLost, lostNotice } from './lostWorkspace.ts';
import { openAs } from './people.ts';

/** From the removal to the notice on the next page. */
const TOLD_WITHIN_MS = 2_000;
/** Removals for each page; their median counts. */
const ROUNDS = 3;

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('a removed member is told within two seconds: on a list, on the page of one thing, as the tab connects, and as it wakes', async ({
  browser,
}) => {
  const ada = await app.signUp('Ada Lovelace');
  const grace = await app.signUp('Grace Hopper');
  const server = await aRentedInstance(app.ctx, ada);
  for (const [path, tab] of [
    ['/cloud/instances', 'connected'],
    [`/cloud/instances/${server}`, 'connected'],
    ['/cloud/instances', 'connecting'],
    ['/cloud/instances', 'frozen'],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await timeUntilTold(path, tab));
    const median = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
    console.log(`${path}, ${tab}: a removed member is told after ${median} ms (median, n = ${times.length})`);
    expect(median, `${path}, ${tab}`).toBeLessThanOrEqual(TOLD_WITHIN_MS);
  }

  async function timeUntilTold(path: string, tab: 'connected' | 'connecting' | 'frozen'): Promise<number> {
    await aMember(app, grace, ada.workspaceId, 'Developer');
    const atTicket = Promise.withResolvers<void>();
    const connected = Promise.withResolvers<void>();
    const removed = Promise.withResolvers<void>();
    // A stream begins with the events of the last seconds.
    app.ctx.bus.publish('changed', { workspaceId: ada.workspaceId, entity: 'client', id: ada.workspaceId });
    const page = await openAs(browser, app.url, grace, path, ada.workspaceId, async (opening) => {
      opening.on('websocket', (socket) => socket.once('framereceived', () => connected.resolve()));
      await opening.addInitScript(noteWhenTold);
      if (tab !== 'connecting') return;
      await opening.route(
        '**/frontend-api/stream-ticket',
        async (route) => {
          const response = await route.fetch();
          atTicket.resolve();
          await removed.promise;
          await route.fulfill({ response });
        },
        { times: 1 },
      );
    });
    await expect(page.getByTestId('profile-menu')).toContainText('Ada Lovelace’s workspace');
    await (tab === 'connecting' ? atTicket : connected).promise;
    const freezer = await freezerOf(page);
    if (tab === 'frozen') await freezer.freeze();
    await ada.client(api.clients.removeMember, { userId: grace.userId });
    removed.resolve();
    const since = Date.now();
    if (tab === 'frozen') await freezer.wake();
    await lostNotice(page, 'Ada Lovelace’s workspace').waitFor();
    // Playwright itself looks only now and then.
    const ms = (await page.evaluate(() => Number(document.documentElement.dataset.toldAt))) - since;
    await expectLost(page, app.url, { lost: 'Ada Lovelace’s workspace', next: 'Grace Hopper’s workspace' });
    await page.context().close();
    return ms;
  }
});

/** Runs in the page. Writes down when the notice appears. */
function noteWhenTold(): void {
  const observer = new MutationObserver(() => {
    if (!document.body?.textContent?.includes('You are no longer a member')) return;
    document.documentElement.dataset.toldAt = String(Date.now());
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
}
