import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { aMember } from '@stagi/server/src/app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainer, aRentedInstance, markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { expectLost, lostNotice } from './lostWorkspace.ts';
import { openAs, storedWorkspace } from './people.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('an owner changes a role, which bites at once, and removes somebody, who is thrown out', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const grace = await app.signUp('Grace Hopper');
  await aMember(app, grace, ada.workspaceId, 'Guest');
  await markSteppedUp(app.ctx, ada);
  const here = await openAs(browser, app.url, ada, '/profile/team');
  const there = await openAs(browser, app.url, grace, '/profile/account', ada.workspaceId);
  const rows = here.getByTestId('member-row');

  await test.step('sees who belongs to the workspace', async () => {
    await expect(rows).toHaveCount(2);
    await expect(rows.filter({ hasText: 'That’s you' })).toContainText('Owner');
    await expect(rows.filter({ hasText: 'Grace' })).toContainText('Guest');
    await expectAccessible(here, 'the team');
    await openMenu(here, 'Ada Lovelace');
    await expect(here.getByTestId('action-change-role')).toHaveAttribute('aria-disabled', 'true');
    await here.keyboard.press('Escape');
  });

  await test.step('a guest sees the balance; what needs a permission is named and not called', async () => {
    const calls: string[] = [];
    there.on('request', (request) => calls.push(new URL(request.url()).pathname));
    const tabs = there.getByRole('navigation', { name: 'Profile', exact: true });
    const named = there.getByTestId('not-permitted');
    await tabs.getByRole('link', { name: 'Transactions & Plans' }).click();
    await expect(there.getByTestId('available')).toHaveText(/STAGI/);
    await expect(named).toHaveText(/^Transaction history needs a permission .*: BILLING$/);
    await expect(there.getByTestId('promo-code')).toHaveCount(0);
    await expectAccessible(there, 'a balance without the permission for its transactions');
    await tabs.getByRole('link', { name: 'Usage' }).click();
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('Usage');
    await expect(named).toHaveText(/^Usage needs a permission .*: BILLING$/);
    expect(calls.filter((path) => /transaction|usage\/|promo/.test(path))).toEqual([]);
    await there.getByTestId('profile-menu').click();
    const popover = there.getByRole('dialog', { name: 'Profile menu' });
    await expect(popover.getByRole('link', { name: 'SSH keys' })).toBeVisible();
    await expect(popover.getByRole('link', { name: 'Transactions & Plans' })).toHaveCount(0);
    await there.keyboard.press('Escape');
  });

  await test.step('gives another role: what it opens is there at once', async () => {
    await expect(there.getByTestId('menu-cloud').first()).toHaveAttribute('aria-disabled', 'true');
    await there.goto(`${app.url}/cloud/marketplace`);
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('No access');
    await expect(there.getByTestId('footer')).toBeVisible();
    await expect(there.getByTestId('footer').getByRole('link', { name: 'Cloud' })).toHaveCount(0);
    await openMenu(here, 'Grace Hopper');
    const before = await here.getByTestId('profile-menu').boundingBox();
    await here.getByTestId('action-change-role').click();
    await expect(here.getByTestId('role-dialog').getByText('Developer', { exact: true })).toBeVisible();
    await expect(here.getByTestId('role-dialog').getByRole('radio', { checked: true })).toBeFocused();
    expect(await here.getByTestId('profile-menu').boundingBox(), 'the page stays where it was').toEqual(before);
    await here.getByTestId('role-dialog').getByText('Developer', { exact: true }).click();
    await here.getByTestId('role-submit').click();
    await expect(here.getByText('Grace Hopper is now Developer')).toBeVisible();
    await expect(rows.filter({ hasText: 'Grace' })).toContainText('Developer');
    await expect(there.getByTestId('menu-cloud').first()).not.toHaveAttribute('aria-disabled', 'true');
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('Hardware marketplace');
  });

  await test.step('says what ends with a role before it is taken', async () => {
    await openMenu(here, 'Grace Hopper');
    await here.getByTestId('action-change-role').click();
    const dialog = here.getByTestId('role-dialog');
    await dialog.getByText('Guest', { exact: true }).click();
    await expect(dialog).toContainText('With this role they lose at once:');
    await expect(dialog).toContainText('Their SSH keys on the servers of this workspace');
    await here.keyboard.press('Escape');
  });

  await test.step('renames the workspace, before the eyes of all', async () => {
    await here.getByTestId('workspace-rename').click();
    await here.getByLabel('Name', { exact: true }).fill('Analytical engines');
    await here.getByTestId('rename-submit').click();
    await expect(here.getByText('The workspace has been renamed')).toBeVisible();
    await expect(here.getByTestId('profile-menu')).toContainText('Analytical engines');
    await expect(there.getByTestId('profile-menu')).toContainText('Analytical engines');
    expect(await storedWorkspace(there, grace)).toBe('Analytical engines');
  });

  const stream = await test.step('while she follows what a container writes', async () => {
    const container = await aContainer(app.ctx, ada, await aRentedInstance(app.ctx, ada));
    const opened = there.waitForEvent('websocket', (socket) => socket.url().includes('/logging/tail'));
    await there.goto(`${app.url}/cloud/containers/${container}/logs`);
    await expect(there.getByTestId('log-connection')).toHaveText('Live');
    return opened;
  });

  await test.step('removes her: she is thrown out, and finds herself in her own workspace', async () => {
    const ended = stream.waitForEvent('close');
    await here.setViewportSize({ width: 360, height: 740 });
    await expect(rows).toHaveCount(2);
    expect(await sideways(here)).toBeLessThanOrEqual(0);
    await openMenu(here, 'Ada Lovelace');
    await here.getByTestId('action-remove-member').hover();
    const why = here.getByRole('tooltip').filter({ hasText: 'A workspace needs an owner' });
    await expect(why).toBeInViewport({ ratio: 1 });
    await here.keyboard.press('Escape');
    await expect(here.getByRole('menu')).toHaveCount(0);
    await openMenu(here, 'Grace Hopper');
    await here.getByTestId('action-remove-member').click();
    await expect(here.getByRole('dialog')).toContainText('Remove Grace Hopper?');
    await here.getByTestId('confirm-submit').click();
    await expect(here.getByText('Grace Hopper has been removed')).toBeVisible();
    await expect(rows).toHaveCount(1);
    await ended;
    await expectLost(there, app.url, { lost: 'Analytical engines', next: 'Grace Hopper’s workspace' });
  });

  await test.step('in each tab, and when she comes back after she was away', async () => {
    const other = await there.context().newPage();
    const server = await aRentedInstance(app.ctx, ada);
    const remove = () => ada.client(api.clients.removeMember, { userId: grace.userId });
    await aMember(app, grace, ada.workspaceId, 'Developer');
    await enterWorkspace(there, grace, ada.workspaceId, `/cloud/instances/${server}`);
    await other.goto(`${app.url}/cloud/instances`);
    for (const tab of [there, other]) await expect(tab.getByTestId('profile-menu')).toContainText('Analytical engines');
    await remove();
    for (const tab of [there, other])
      await expectLost(tab, app.url, { lost: 'Analytical engines', next: 'Grace Hopper’s workspace' });
    await other.close();

    await aMember(app, grace, ada.workspaceId, 'Developer');
    await enterWorkspace(there, grace, ada.workspaceId, '/cloud/instances');
    await expect(there.getByTestId('profile-menu')).toContainText('Analytical engines');
    await there.goto('about:blank');
    await remove();
    await enterSlowly(there, `${app.url}/cloud/instances/1`);
    await expectLost(there, app.url, { lost: 'Analytical engines', next: 'Grace Hopper’s workspace' });
    await there.reload();
    await expect(there.getByTestId('profile-menu')).toContainText('Grace Hopper’s workspace');
    await expect(lostNotice(there, 'Analytical engines'), 'told once').toHaveCount(0);
  });

  await test.step('an operator shuts that too: she is told that she has none, and makes another', async () => {
    await app.ctx.db
      .updateTable('workspace')
      .set({ disabled_at: new Date() })
      .where('id', '=', grace.workspaceId)
      .execute();
    await expectLost(there, app.url, { lost: 'Grace Hopper’s workspace', next: null });
    await expect(there.getByText('You are not in a workspace')).toBeVisible();
    await there.getByTestId('no-workspace').click();
    await there.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Fresh start');
    await there.getByTestId('workspace-submit').click();
    await expect(there.getByTestId('profile-menu')).toContainText('Fresh start');
  });
  await here.context().close();
  await there.context().close();
});

/** As if it had been chosen in another tab. */
async function enterWorkspace(page: Page, { email }: Person, clientId: number, path: string): Promise<void> {
  await page.evaluate(([key, value]) => localStorage.setItem(key, value), [
    `activeWorkspace:${email}`,
    JSON.stringify({ clientId, clientName: '' }),
  ] as const);
  await page.goto(app.url + path);
}

/** Opens a page that is left while its code still loads, and has it start before the next page comes. */
async function enterSlowly(page: Page, url: string): Promise<void> {
  const root = new URL('/', url).href;
  const left = page.waitForRequest(root);
  await page.route(/\/assets\/InstancePage-.*\.js$/, async (route) => {
    await left;
    await route.continue();
  });
  const started = page.waitForEvent('console', (message) => message.text() === 'data-started');
  await page.addInitScript(() =>
    new MutationObserver(() => console.debug('data-started')).observe(document, {
      attributeFilter: ['data-started'],
      subtree: true,
    }),
  );
  await page.route(root, async (route) => {
    await started;
    await route.continue();
  });
  await page.goto(url, { waitUntil: 'commit' });
  await left;
}

/** Opens a page as somebody, in the workspace of that id or in their first. */
async function openMenu(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await expect(page.getByTestId('action-change-role')).toBeVisible();
}
