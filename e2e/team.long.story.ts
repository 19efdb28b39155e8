import { aMember } from '@stagi/server/src/app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs, storedWorkspace } from './people.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

/** Workspaces of others that somebody belongs to: more than fit on a screen. */
const OTHERS = 14;

test('somebody makes a workspace, goes back to the first, and cannot leave what needs them', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  for (let at = 0; at < OTHERS; at += 1)
    await aMember(app, ada, (await app.signUp(`Other ${at}`)).workspaceId, 'Guest');
  const page = await openAs(browser, app.url, ada, '/profile/account');
  const entries = page.getByTestId('workspace-entry');

  await page.getByTestId('profile-menu').click();
  const out = page.getByRole('button', { name: 'Log out' });
  await out.scrollIntoViewIfNeeded();
  await expect(out, 'below a long list of workspaces').toBeInViewport();
  await page.getByRole('link', { name: 'Create a workspace' }).click();
  await page.getByTestId('workspace-submit').click();
  await expect(page.getByText('Name is required')).toBeVisible();
  await page.getByLabel('Name', { exact: true }).last().fill('Second');
  await page.getByTestId('workspace-submit').click();
  await expect(page.getByTestId('profile-menu')).toContainText('Second');
  expect(await storedWorkspace(page, ada)).toBe('Second');

  await page.goto(`${app.url}/profile/account`);
  await expect(entries).toHaveCount(OTHERS + 2);
  await expect(entries.filter({ hasText: 'Current' })).toContainText('Second');
  const leave = page.getByTestId('workspace-leave');
  await expect(leave).toHaveAttribute('aria-disabled', 'true');
  await leave.hover();
  await expect(page.getByRole('tooltip')).toContainText(
    'A workspace needs an owner. Make somebody else its owner first.',
  );

  await test.step('switches, in every tab at once: nothing that is pressed lands in another workspace than is shown', async () => {
    const other = await page.context().newPage();
    await other.goto(`${app.url}/profile/ssh`);
    await expect(other.getByTestId('profile-menu')).toContainText('Second');
    await other.getByTestId('profile-menu').click();
    await other.getByRole('button').filter({ hasText: 'SecondOwner' }).click();
    await expect(other, 'the current one does nothing').toHaveURL(`${app.url}/profile/ssh`);
    await page.getByRole('button', { name: 'Switch to Ada Lovelace’s workspace' }).click();
    for (const tab of [page, other]) {
      await expect(tab).toHaveURL(`${app.url}/models`);
      await expect(tab.getByTestId('profile-menu')).toContainText('Ada Lovelace’s workspace');
    }
    expect(await storedWorkspace(page, ada)).toBe('Ada Lovelace’s workspace');
    await other.close();
  });

  await test.step('leaves one that others own, and is in the first again', async () => {
    await page.goto(`${app.url}/profile/account`);
    await page.getByRole('button', { name: 'Switch to Other 1’s workspace' }).click();
    await expect(page.getByTestId('profile-menu')).toContainText('Other 1’s workspace');
    await page.goto(`${app.url}/profile/account`);
    await page.getByTestId('workspace-leave').click();
    await expect(page.getByRole('dialog')).toContainText('Leave “Other 1’s workspace”?');
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByTestId('profile-menu')).toContainText('Ada Lovelace’s workspace');
    await page.goto(`${app.url}/profile/account`);
    await expect(entries).toHaveCount(OTHERS + 1);
  });
  await page.context().close();
});
