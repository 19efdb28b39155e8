import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { sweepClouds } from '@stagi/server/src/strays/sweep.ts';
import { type CloudApp, startCloudApp } from '@stagi/server/src/testing/cloudApp.ts';
import { makeOperator } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { expectNoSidewaysScroll, section } from './operatorSections.ts';
import { enter, openAs } from './people.ts';

const LEFT = 'stagi-test-900001';
const LOST = 'stagi-test-900002';

let app: CloudApp;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  ({ app, stop } = await withOwnDatabase(() => startCloudApp()));
});
test.afterAll(() => stop?.());

test('an operator decides about strays, asks a cloud, and reads the logs', async ({ page, browser }) => {
  const olga = await app.signUp('Olga Operator');
  const alice = await app.signUp('Alice');
  await makeOperator(app.ctx, olga);
  await alice.client(api.sshKeys.generate, { title: 'laptop' });
  for (const name of [LEFT, LOST])
    await app.control.stray({ name, offerId: 'sim-cpu-4', tags: { env: 'test', resource: name.slice(-6) } });
  await sweepClouds(app.ctx);

  await enter(page, app.url, olga, '/admin/strays');
  await test.step('gives one machine to a workspace and has the other deleted', async () => {
    const rows = page.getByTestId('stray-row');
    await expect(rows).toHaveCount(2);
    await expect(rows.filter({ hasText: LOST }).getByText('Needs a decision')).toBeVisible();
    await expectAccessible(page, 'strays');

    await rows
      .filter({ hasText: LOST })
      .getByRole('button', { name: `Actions for ${LOST}` })
      .click();
    await page.getByTestId('action-adopt').click();
    const dialog = page.getByTestId('adopt-dialog');
    await page.getByTestId('adopt-submit').click();
    await expect(dialog.getByText('Offer is required')).toBeVisible();
    await pickWorkspace(page, dialog.getByTestId('adopt-workspace'), alice);
    await dialog.getByRole('combobox', { name: 'Offer' }).click();
    await page.getByRole('option').first().click();
    await dialog.getByLabel('Title').fill('Found again');
    await dialog.getByLabel('Unique ID').fill('found-again');
    await expectAccessible(page, 'adopting a stray');
    await page.getByTestId('adopt-submit').click();
    await expect(page.getByText(`“${LOST}” has been adopted`)).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const { entities } = await alice.client(api.instances.list, {});
    expect(entities.map(({ slug }) => slug)).toEqual(['found-again']);

    await rows
      .filter({ hasText: LEFT })
      .getByRole('button', { name: `Actions for ${LEFT}` })
      .click();
    await page.getByTestId('action-delete').click();
    await page.getByTestId('confirm-slug').fill(LEFT);
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('The machine will be deleted at the next check of its cloud')).toBeVisible();
    await expect
      .poll(
        async () => {
          await sweepClouds(app.ctx);
          return (await olga.client(api.strays.list, {})).totalCount;
        },
        { timeout: 30_000 },
      )
      .toBe(0);
    await expect(page.getByText('No stray machines')).toBeVisible();
  });

  await test.step('asks a cloud, which answers and then refuses', async () => {
    await section(page, 'Clouds');
    const row = page.getByTestId('provider-row');
    await expect(row).toHaveCount(1);
    await expect(row.getByText('Ready', { exact: true })).toBeVisible();
    await row.getByRole('link', { name: 'Simulated cloud' }).click();
    const panel = page.getByTestId('provider-panel');
    await panel.getByTestId('provider-check').click();
    const steps = panel.getByTestId('check-step');
    await expect(steps).toHaveCount(3);
    await expect(steps.getByText('Done', { exact: true })).toHaveCount(3);
    await expectAccessible(page, 'a cloud');
    await app.control.fault('list', { kind: 'internal' }, null);
    await panel.getByTestId('provider-check').click();
    await expect(steps.getByText('Failed', { exact: true })).toHaveCount(1);
    await app.control.clearFaults();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('reads what operators did, and what was done in a workspace', async () => {
    await section(page, 'Audit log');
    const rows = page.getByTestId('audit-row');
    await expect(rows.filter({ hasText: 'Checked a cloud' })).toHaveCount(2);
    await expect(rows.filter({ hasText: 'Adopted a stray machine' })).toHaveCount(1);
    await expect(rows.filter({ hasText: 'Deleted a stray machine' })).toHaveCount(1);
    await expectNoSidewaysScroll(page);
    const whose = page.getByTestId('audit-workspace');
    await pickWorkspace(page, whose, alice);
    await expect(page).toHaveURL(new RegExp(`workspace=${alice.workspaceId}$`));
    await expect(page.getByText('This is the log of the workspace')).toBeVisible();
    await expect(whose).toHaveText('Alice’s workspace');
    await expect(rows.filter({ hasText: 'Generated an SSH key' })).toHaveCount(1);
    await expect(rows.filter({ hasText: 'Adopted a stray machine' })).toHaveCount(1);
    await expect(rows).toHaveCount(2);
    await expectAccessible(page, 'the log of a workspace');
    await expectNoSidewaysScroll(page);
  });

  await test.step('checks and exports that log, and their own', async () => {
    await page.getByTestId('audit-verify').click();
    await expect(page.getByText('The chain is intact: 2 entries')).toBeVisible();
    expect(await exported(page)).toMatch(/^1,.*,ssh-key\/generate,/m);
    await expect(page.getByTestId('audit-row').filter({ hasText: 'Exported the audit log' })).toHaveCount(1);
    await page.getByRole('link', { name: 'Show operator actions' }).click();
    await expect(page.getByTestId('audit-row').filter({ hasText: 'Exported the audit log' })).toHaveCount(1);
    // Which workspace, by its name, and where it is.
    await expect(
      page.getByTestId('audit-row').filter({ hasText: 'Exported the audit log' }).getByRole('link'),
    ).toHaveAttribute('href', /\/admin\/workspaces\?workspace=\d+$/);
    const adopted = page.getByTestId('audit-row').filter({ hasText: 'Adopted a stray machine' });
    await expect(adopted.first()).toContainText(/Workspace: \D/);
    await expect(page.getByTestId('audit-row').filter({ hasText: 'Checked the audit log' })).toHaveCount(1);
    await expect(page.getByTestId('audit-row').filter({ hasText: 'Checked a cloud' })).toHaveCount(2);
    expect(await exported(page)).toMatch(/,admin\/stray\/adopt,/);
  });

  await test.step('has all logs checked, and is told which one is broken', async () => {
    await page.getByTestId('open-audit-checks').click();
    const panel = page.getByTestId('audit-checks');
    await expect(panel.getByText('No checks yet')).toBeVisible();
    await panel.getByTestId('audit-check-all').click();
    await expect(panel.getByText('Intact', { exact: true })).toBeVisible();
    await expect(panel.getByText('Olga Operator')).toBeVisible();
    await changeBehindItsBack(alice);
    await manyAct(alice);
    await panel.getByTestId('audit-check-all').click();
    await expect(panel.getByText('One log is broken')).toBeVisible();
    await expect(panel.getByText('Broken', { exact: true })).toBeVisible();
    await expect(panel.getByText('Intact', { exact: true })).toBeVisible();
    await expectAccessible(page, 'the checks of all logs');
    await expectNoSidewaysScroll(page);
    const broken = panel.getByTestId('broken-logs').getByRole('listitem');
    await expect(broken).toHaveText('Alice’s workspaceEntry 1');
    await broken.getByRole('link').click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByText('This is the log of the workspace')).toBeVisible();
    await expect(page.getByText('An audit log is broken')).toBeVisible();
    // What was read of this log before may still be shown.
    await page.reload();
    await pickWho(page, 'worker number 42', 'Worker Number 42');
    await page.getByTestId('audit-verify').click();
    await expect(page.getByText('The chain is broken at entry 1')).toBeVisible();
    await page.goto(`${app.url}/admin/audit?workspace=999999`);
    await expect(page.getByText('This workspace cannot be found')).toBeVisible();
  });

  await test.step('has what is to be compared in columns on a phone too, and only that', async () => {
    const viewport = { width: 360, height: 740 };
    const phone = await (await browser.newContext({ viewport, isMobile: true, hasTouch: true })).newPage();
    const width = () => phone.evaluate(() => document.documentElement.clientWidth);
    await enter(phone, app.url, olga, '/admin/audit');
    await expect(phone.getByRole('heading', { level: 1 })).toBeVisible();
    await expect.poll(width).toBe(768);
    await section(phone, 'Users');
    await expect.poll(width).toBe(360);
    await section(phone, 'Ledger');
    await expect.poll(width).toBe(768);
    await phone.context().close();
  });

  await test.step('is not shown as who rented the machine that they adopted', async () => {
    const [found] = (await alice.client(api.instances.list, {})).entities;
    const hers = await openAs(browser, app.url, alice, `/cloud/instances/${found?.id}`);
    await expect(hers.getByRole('heading', { level: 1 })).toHaveText('Found again');
    await expect(hers.getByText('Adopted by an operator')).toBeVisible();
    await expect(hers.getByText('Olga Operator')).toHaveCount(0);
  });
});

/** By the keyboard, once what was typed has been answered. */
async function pickWorkspace(page: Page, control: Locator, owner: Person): Promise<void> {
  await control.click();
  const search = page.getByRole('combobox', { name: 'Name, id or owner’s email' });
  await expect(search).toBeFocused();
  await expect(page.getByRole('option')).toHaveCount(2);
  await search.fill(owner.email);
  await expect(page.getByRole('option')).toHaveCount(1);
  await expect(page.locator('[data-combobox-selected]')).toContainText(owner.email);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('option')).toHaveCount(0);
}

async function exported(page: Page): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId('audit-export').click()]);
  return readFileSync(await file.path(), 'utf8');
}

/** As somebody with every right over the database could. */
async function changeBehindItsBack({ workspaceId }: Person): Promise<void> {
  await app.ctx.db.transaction().execute(async (trx) => {
    await sql`alter table audit disable trigger user`.execute(trx);
    await sql`update audit set ip = '192.0.2.1' where chain = ${workspaceId} and seq = 1`.execute(trx);
    await sql`alter table audit enable trigger user`.execute(trx);
  });
}

/** More people than a menu can hold. */
async function manyAct({ workspaceId }: Person): Promise<void> {
  await sql`with worker as (insert into app_user (email, name)
      select 'worker' || n || '@example.com', 'Worker Number ' || n from generate_series(1, 60) n returning id)
    insert into audit (workspace_id, actor_id, credential, action, outcome)
    select ${workspaceId}, id, 'session', 'ssh-key/generate', 'done' from worker`.execute(app.ctx.db);
}

/** Narrows the log to one of them, and widens it again. */
async function pickWho(page: Page, typed: string, name: string): Promise<void> {
  const rows = page.getByTestId('audit-row');
  const who = page.getByTestId('audit-who');
  await expect(rows).toHaveCount(25);
  await who.click();
  const search = page.getByRole('combobox', { name: 'Name or email' });
  await expect(search).toBeFocused();
  await expect(page.getByRole('option')).toHaveCount(20);
  await search.fill(typed);
  await expect(page.getByRole('option')).toHaveCount(1);
  await expect(page.locator('[data-combobox-selected]')).toContainText(name);
  await expectAccessible(page, 'who stands in a log of many');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('option')).toHaveCount(0);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText(name);
  await expect(who).toHaveText(name);
  await expect(page).toHaveURL(/who=\d+/);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Clear' }).first().click();
  await expect(rows).toHaveCount(25);
}
