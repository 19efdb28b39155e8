import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { ANALYTICS_EVENTS } from '@stagi/contract/analytics.ts';
import { builtDaemonEnv } from '@stagi/server/src/testing/cloudApp.ts';
import { expect, test } from './fixtures.ts';
import { type Ingestion, startIngestion } from './ingestion.ts';
import { signUpInBrowser } from './people.ts';
import { type Platform, startPlatform } from './platform.ts';

const CALL = '/frontend-api/analytics/event';
const DEADLINE = { timeout: 20_000 };

/** What a person does on the way through what exists, and the events it stands for. */
async function walk(page: Page, at: Platform, signedUp = async () => {}): Promise<string[]> {
  await page.goto(at.url);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await signUpInBrowser(page, at);
  await signedUp();
  await page.getByTestId('menu-cloud').click();
  const tabs = page.getByRole('navigation', { name: 'Cloud' });
  for (const name of ['Hardware marketplace', 'Instances', 'Containers', 'Self-hosted'])
    await tabs.getByRole('link', { name }).click();
  await page.getByRole('link', { name: 'Attach a server' }).first().click();
  await page.getByLabel('Title').fill('Lab 3');
  await page.getByTestId('wizard-next').click();
  const download = page.waitForEvent('download');
  await page.getByTestId('token-download').click();
  await download;
  await page.getByTestId('profile-menu').click();
  await page.getByRole('dialog').getByRole('link', { name: 'Profile', exact: true }).click();
  await leaveIfAsked(page);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
  await page.reload();
  await page
    .getByRole('banner')
    .getByRole('link', { name: /start page/ })
    .click();
  await expect(page).toHaveURL(/\/models$/);
  // The start page leads on to the models: their layout has a header of its own.
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Models');
  await page.getByTestId('profile-menu').click();
  await page.getByText('Log out').click();
  await expect(page.getByRole('link', { name: 'Log in' }).first()).toBeVisible();
  return [
    'user_first_visit',
    'sign_up_button_clicked',
    'confirmation_code_button_clicked',
    '$identify',
    'header_tab_cloud_clicked',
    'cloud_tab_hardware_marketplace_clicked',
    'cloud_tab_instances_clicked',
    'cloud_tab_containers_clicked',
    'cloud_tab_self_hosted_clicked',
    'create_self_hosted_next_step_clicked',
    'daemon_jwt_token_downloaded',
    'header_tab_user_menu_clicked',
    'header_tab_profile_clicked',
    // The reload tells again who it is.
    '$identify',
    'header_tab_logo_clicked',
    'header_tab_user_menu_clicked',
  ];
}

/** The network loses one event on its way, and of another the answer; then it is well again. */
async function loseSome(page: Page, lost: string[]): Promise<void> {
  await page.route(`**${CALL}`, async (route) => {
    const { name } = route.request().postDataJSON() as { name: string };
    const losesEvent = name === 'header_tab_cloud_clicked' && !lost.includes(name);
    const losesAnswer = name === 'cloud_tab_containers_clicked' && !lost.includes(name);
    if (!losesEvent && !losesAnswer) return route.continue();
    if (losesAnswer) await route.fetch();
    lost.push(name);
    await route.abort('connectionreset');
    if (lost.length === 2) await page.unroute(`**${CALL}`);
  });
}

async function leaveIfAsked(page: Page): Promise<void> {
  const leave = page.getByRole('dialog').getByRole('button', { name: /leave/i });
  const heading = page.getByRole('heading', { level: 1, name: 'Account' });
  await expect(leave.or(heading).first()).toBeVisible();
  if (await leave.isVisible()) await leave.click();
}

/** `localhost` has analytics; the same platform under another name of the machine has none. */
let platform: Platform;
let folder: string;
let ingestion: Ingestion;

test.beforeAll(async () => {
  ingestion = await startIngestion();
  folder = mkdtempSync(join(tmpdir(), 'stagi-analytics-'));
  platform = await startPlatform('e2eanalytics', {
    ...builtDaemonEnv(folder),
    LOCAL_CLOUD: 'off',
    ...ingestion.env,
  });
});
test.afterAll(async () => {
  await platform?.stop();
  ingestion?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('no request leaves where analytics is off', async ({ page }) => {
  const off = { ...platform, url: `http://127.0.0.1:${platform.port}` };
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.url()));
  await walk(page, off);
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.filter((url) => url.includes(CALL))).toEqual([]);
  expect(sent.filter((url) => !/^(data|blob):/.test(url) && !url.startsWith(off.url))).toEqual([]);
  expect(
    await page.evaluate(() => [localStorage.getItem('hasVisited'), sessionStorage.getItem('analyticsVisitor')]),
  ).toEqual(['visited', null]);
  expect(ingestion.told).toEqual([]);
  console.log(`requests with analytics off: n = ${sent.length}, of them analytics 0, to other hosts 0`);
});

test('where it is on, each event reaches the operator’s analytics once, through our own endpoint', async ({ page }) => {
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).origin));
  const lost: string[] = [];
  const { told } = ingestion;
  const expected = await walk(page, platform, () => loseSome(page, lost));
  expect(lost).toEqual(['header_tab_cloud_clicked', 'cloud_tab_containers_clicked']);
  await expect.poll(() => told.map((event) => event.event_type).toSorted(), DEADLINE).toEqual(expected.toSorted());
  expect([...hosts].filter((host) => host !== 'null')).toEqual([platform.url]);

  const of = (name: string) => told.filter((event) => event.event_type === name);
  expect(of('user_first_visit').map((event) => event.event_properties)).toEqual([
    { timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
  ]);
  // Nobody before the sign-up, one person after it, one visitor throughout, nobody's traces after the sign-out.
  expect(of('sign_up_button_clicked').map((event) => event.user_id)).toEqual([undefined]);
  expect([...new Set(of('$identify').map((event) => event.user_id))]).toEqual([expect.stringMatching(/^\d+$/)]);
  expect(new Set(told.map((event) => event.device_id)).size).toBe(1);
  expect(await page.evaluate(() => sessionStorage.getItem('analyticsVisitor'))).toBeNull();
  for (const { event_type } of told) expect(['$identify', ...Object.keys(ANALYTICS_EVENTS)]).toContain(event_type);
  console.log(`events: n = ${told.length}, of ${new Set(told.map((event) => event.event_type)).size} kinds`);
});
