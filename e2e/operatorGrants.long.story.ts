import type { Locator } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aProject, makeOperator, markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';

let app: TestApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startTestApp()));
});
test.afterAll(() => stop?.());

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

for (const viewport of [WIDE, PHONE]) {
  test(`an operator sets quotas, adds credit and deletes an account, ${viewport.width} px wide`, async ({
    browser,
  }) => {
    const olga = await app.signUp('Olga Operator');
    const lena = await app.signUp('Lena Lab');
    await makeOperator(app.ctx, olga);
    await markSteppedUp(app.ctx, olga);
    await aProject(app.ctx, lena);
    const page = await openAs(browser, app.url, olga, `/admin/workspaces?workspace=${lena.workspaceId}`);
    await page.setViewportSize(viewport);
    const panel = page.getByTestId('workspace-panel');

    await test.step('changes plan and quotas, beside what is used', async () => {
      await panel.getByTestId('panel-action-plan').click();
      const dialog = page.getByTestId('plan-dialog');
      const projects = dialog.getByRole('group', { name: 'Projects' });
      await expect(projects).toHaveAccessibleDescription('In use now: 1');
      await expect(projects.getByRole('combobox')).toContainText('As in the plan: 20');
      const members = dialog.getByRole('group', { name: 'Members' });
      await choose(members, 'Own number');
      await dialog.getByTestId('plan-submit').click();
      await expect(members.getByText('Enter a number')).toBeVisible();
      await members.getByRole('spinbutton').fill('2.5');
      await dialog.getByTestId('plan-submit').click();
      await expect(members.getByText('Enter a whole number from 1 to 1,000,000')).toBeVisible();
      await members.getByRole('spinbutton').fill('30');
      await choose(projects, 'No limit');
      await expectAccessible(page, 'plan and quotas');
      expect(await sideways(page)).toBeLessThanOrEqual(0);
      await dialog.getByTestId('plan-submit').click();
      await expect(page.getByText('The plan of Lena Lab’s workspace has been changed')).toBeVisible();
      await expect(panel.getByText('Own quotas')).toBeVisible();
      expect((await lena.client(api.invites.list, {})).seats).toEqual({ plan: 'Free', used: 1, limit: 30 });
    });

    await test.step('keeps what was typed when somebody else saved meanwhile', async () => {
      await panel.getByTestId('panel-action-plan').click();
      const dialog = page.getByTestId('plan-dialog');
      const members = dialog.getByRole('group', { name: 'Members' });
      await expect(members.getByRole('spinbutton')).toHaveValue('30');
      await members.getByRole('spinbutton').fill('31');
      await olga.client(api.adminClients.editPlan, { id: lena.workspaceId, plan: 'Team', quotas: { members: 12 } });
      await dialog.getByTestId('plan-submit').click();
      await expect(dialog.getByTestId('overtaken')).toBeVisible();
      await expect(members.getByRole('spinbutton')).toHaveValue('31');
      // By the key, as the toast may lie over the button of a phone.
      await members.getByRole('spinbutton').press('Enter');
      await expect(dialog.getByTestId('plan-submit')).toHaveCount(0);
      expect((await lena.client(api.invites.list, {})).seats.limit).toBe(31);
    });

    await test.step('adds credit, and sees the balance after it', async () => {
      await panel.getByTestId('panel-action-credit').click();
      const dialog = page.getByTestId('credit-dialog');
      await dialog.getByLabel('Amount in STAGI').fill('0.0000001');
      await dialog.getByTestId('credit-submit').click();
      await expect(dialog.getByText('Amount may have at most 6 decimals')).toBeVisible();
      await expect(dialog.getByText('Reason is required')).toBeVisible();
      await dialog.getByLabel('Amount in STAGI').fill('25.5');
      await expect(dialog.getByText('Balance afterwards: 75.50 STAGI')).toBeVisible();
      await dialog.getByLabel('Reason').fill('A grant for the course');
      await expectAccessible(page, 'credit');
      expect(await sideways(page)).toBeLessThanOrEqual(0);
      await dialog.getByTestId('credit-submit').dblclick();
      await expect(page.getByText('Credit has been added to Lena Lab’s workspace')).toBeVisible();
      await expect(panel.getByText('75.50 STAGI')).toBeVisible();
    });

    await test.step('whose owner sees it with its reason', async () => {
      const there = await openAs(browser, app.url, lena, '/profile/balance');
      await there.setViewportSize(viewport);
      await expect(there.getByText('A grant for the course')).toBeVisible();
      await expectAccessible(there, 'a granted credit');
      expect(await sideways(there)).toBeLessThanOrEqual(0);
      await there.context().close();
    });

    await test.step('learns what is in the way of deleting the account', async () => {
      await page.goto(`${app.url}/admin/users?user=${lena.userId}`);
      await page.getByTestId('user-panel').getByTestId('panel-action-delete').click();
      const dialog = page.getByTestId('delete-user-dialog');
      await expect(dialog.getByText('The account cannot be deleted yet')).toBeVisible();
      await expect(dialog.getByText('There is still a project in “Lena Lab’s workspace”.')).toBeVisible();
      await expectAccessible(page, 'what is in the way');
      expect(await sideways(page)).toBeLessThanOrEqual(0);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await app.ctx.db
        .updateTable('project')
        .set({ closed_at: new Date() })
        .where('workspace_id', '=', lena.workspaceId)
        .execute();
    });

    await test.step('deletes it, with the address typed and a reason', async () => {
      const panelOfUser = page.getByTestId('user-panel');
      await panelOfUser.getByTestId('panel-action-delete').click();
      const dialog = page.getByTestId('delete-user-dialog');
      await expect(dialog.getByText('“Lena Lab’s workspace” with everything in it and its balance')).toBeVisible();
      await dialog.getByLabel('To confirm, type').fill('somebody@example.com');
      await dialog.getByLabel('Reason').fill('Asked for it in writing');
      await dialog.getByTestId('delete-user-submit').click();
      await expect(dialog.getByText('This is not the address of this account')).toBeVisible();
      await expectAccessible(page, 'deleting an account');
      expect(await sideways(page)).toBeLessThanOrEqual(0);
      await dialog.getByLabel('To confirm, type').fill(lena.email);
      await dialog.getByTestId('delete-user-submit').click();
      await expect(page.getByText('The account of Lena Lab has been deleted')).toBeVisible();
      await expect(panelOfUser.getByText(lena.email)).toHaveCount(0);
      await expect(panelOfUser.getByTestId('panel-action-delete')).toHaveCount(0);
    });
    await page.context().close();
  });
}

async function choose(quota: Locator, option: string): Promise<void> {
  await quota.getByRole('combobox').click();
  await quota.page().getByRole('option', { name: option }).click();
}
