import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { makeOperator, markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';

const CROWD = 300;

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

test('an operator finds somebody among many, shuts them out before their eyes, and lets them in again', async ({
  browser,
}) => {
  const olga = await app.signUp('Olga Operator');
  const vera = await app.signUp('Vera Victim');
  await makeOperator(app.ctx, olga);
  await markSteppedUp(app.ctx, olga);
  await sql`insert into app_user (email, name, email_verified_at)
    select 'crowd' || n || '@example.com', 'Crowd ' || n, now() from generate_series(1, ${CROWD}) n`.execute(
    app.ctx.db,
  );

  const there = await openAs(browser, app.url, vera, '/profile/account');
  await test.step('who is no operator sees none of it', async () => {
    await there.getByTestId('profile-menu').click();
    await expect(there.getByRole('link', { name: 'SSH keys' }).last()).toBeVisible();
    await expect(there.getByTestId('menu-admin')).toHaveCount(0);
    await there.goto(`${app.url}/admin/users`);
    await expect(there).toHaveURL(/\/403$/);
    await there.goto(`${app.url}/profile/account`);
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('Account');
  });

  const here = await openAs(browser, app.url, olga, '/profile/account');
  const rows = here.getByTestId('user-row');
  await test.step('finds them by a part of their name', async () => {
    await here.getByTestId('profile-menu').click();
    await here.getByTestId('menu-admin').click();
    await expect(here).toHaveURL(/\/admin\/users$/);
    await expect(rows).toHaveCount(25);
    await expect(here.getByText(`1–25 of ${CROWD + 2}`)).toBeVisible();
    await here.getByRole('searchbox').fill('era vic');
    await expect(rows).toHaveCount(1);
    await expect(rows.first()).toContainText(vera.email);
    await expect(rows.first()).toContainText('Enabled');
    await expectAccessible(here, 'users');
  });

  await test.step('looks at them', async () => {
    await rows.first().getByRole('link').click();
    const panel = here.getByTestId('user-panel');
    await expect(panel.getByText('Only owner')).toBeVisible();
    await expect(panel.getByText('Password', { exact: true })).toBeVisible();
    await expectAccessible(here, 'a user');
    await panel.getByTestId('panel-action-disable').click();
  });

  await test.step('shuts them out with a reason: their open page is thrown out', async () => {
    const dialog = here.getByTestId('disable-dialog');
    await dialog.getByTestId('disable-submit').click();
    await expect(dialog.getByText('Reason is required')).toBeVisible();
    await dialog.getByLabel('Reason').fill('Mines coins');
    await dialog.getByTestId('disable-submit').click();
    await expect(here.getByText('Vera Victim has been disabled')).toBeVisible();
    await expect(there).toHaveURL(/\/sign-in/);
    const panel = here.getByTestId('user-panel');
    await expect(panel.getByText('Disabled by Olga Operator')).toBeVisible();
    await expect(panel.getByText('Mines coins')).toBeVisible();
  });

  await test.step('lets them in again, on a narrow screen', async () => {
    await here.setViewportSize({ width: 360, height: 740 });
    await here.getByTestId('user-panel').getByTestId('panel-action-enable').click();
    await here.getByTestId('confirm-submit').click();
    await expect(here.getByText('Vera Victim has been enabled')).toBeVisible();
    await expect(here.getByTestId('user-panel').getByText('Mines coins')).toHaveCount(0);
    await here.keyboard.press('Escape');
    await expect(here.getByRole('dialog')).toHaveCount(0);
    await expect(rows.first()).toContainText('Enabled');
    expect(await sideways(here)).toBeLessThanOrEqual(0);
  });

  await test.step('finds the workspace by its owner’s address', async () => {
    await here.getByRole('link', { name: 'Workspaces' }).first().click();
    const workspaces = here.getByTestId('workspace-row');
    await expect(workspaces).toHaveCount(2);
    await here.getByRole('searchbox').fill(vera.email);
    await expect(workspaces).toHaveCount(1);
    await expect(workspaces.first()).toContainText('Vera Victim’s workspace');
    await workspaces.first().getByRole('link').click();
    await expect(here.getByTestId('workspace-panel').getByText('No servers')).toBeVisible();
    await expectAccessible(here, 'a workspace');
    expect(await sideways(here)).toBeLessThanOrEqual(0);
  });
  await here.context().close();
  await there.context().close();
});
