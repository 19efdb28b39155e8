import type { Page } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { walkTo } from './navigation.ts';
import { enterAsNewPerson } from './people.ts';

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
const DEMO = '/stagi-demo';
const MARK = 'Recorded data of a made-up workspace';
const REFUSAL = 'This is a demo: nothing is changed. Sign up to do this yourself.';

/** What must not happen in the demo: calls of the platform, errors of the page, toasts of failures. */
function watch(page: Page) {
  const seen: string[] = [];
  // The page before may still ask something, and open its stream, while it is left.
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!request.frame().url().includes(DEMO)) return;
    if (pathname.startsWith('/frontend-api')) seen.push(`${request.method()} ${pathname}`);
  });
  page.on('websocket', (socket) => {
    if (page.url().includes(DEMO)) seen.push(`a stream: ${socket.url()}`);
  });
  page.on('pageerror', (error) => seen.push(error.message));
  return seen;
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

test('a visitor walks through the demo, which marks every page and changes nothing', async ({ page, platform }) => {
  test.setTimeout(240_000);
  await page.setViewportSize(DESK);
  const seen = watch(page);
  const marked = async () => {
    await expect(page.getByTestId('demo-bar')).toContainText(MARK);
    await expect(page.locator('[role="alert"]')).toHaveCount(0);
    await expect(page.getByText('This is not part of the demo')).toHaveCount(0);
  };
  const tab = (name: string | RegExp) => page.getByRole('main').getByRole('link', { name }).first().click();

  await test.step('it begins with the servers of the workspace', async () => {
    const answer = await page.goto(platform.url + DEMO);
    expect(answer?.status()).toBe(200);
    expect(answer?.headers()['x-robots-tag']).toBeUndefined();
    await expect(heading(page)).toHaveText('Instances');
    await expect(page).toHaveURL(`${platform.url}${DEMO}/cloud/instances`);
    await expect(page.getByRole('main')).toContainText('Training');
    await marked();
  });

  await test.step('a server with its tabs', async () => {
    await page.getByRole('main').getByRole('link', { name: 'Training' }).first().click();
    await expect(heading(page)).toContainText('Training');
    for (const name of ['Containers', 'Images', 'Metrics', 'Activities', 'Access']) {
      await tab(name);
      await expect(page.getByRole('main').getByRole('link', { name }).first()).toHaveAttribute('aria-current', 'page');
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
      await marked();
    }
    await tab('Metrics');
    await expect(page.getByTestId('metrics-0gpuUse').locator('canvas')).toBeVisible();
    await tab('Terminal');
    await expect(page.getByText('The terminal is not part of the demo')).toBeVisible();
  });

  await test.step('what would change something is refused, with a word', async () => {
    await walkTo(page, `${DEMO}/cloud/instances`);
    await page
      .getByRole('button', { name: /^Actions for .*Training/ })
      .first()
      .click();
    await page.getByTestId('action-reboot').click();
    const confirm = page.getByTestId('confirm-submit');
    await confirm.click();
    await expect(page.getByText(REFUSAL).first()).toBeVisible();
    await page.keyboard.press('Escape');
  });

  await test.step('containers, with a log that goes on', async () => {
    await page.getByRole('link', { name: 'Containers', exact: true }).first().click();
    await expect(heading(page)).toHaveText('Containers');
    await page.getByRole('searchbox').first().fill('assistant');
    await expect(page.getByRole('main').getByRole('link', { name: 'Notebook' })).toHaveCount(0);
    await page.getByRole('main').getByRole('link', { name: 'Assistant model' }).first().click();
    await tab('Logs');
    await expect(page.getByTestId('log-lines')).toContainText('/v1/chat/completions');
    await expect(page.getByTestId('log-connection')).toHaveText('Live');
    await marked();
  });

  await test.step('the other pages of the console', async () => {
    const pages: readonly [path: string, shown: string][] = [
      ['/cloud/marketplace', 'NVIDIA H100'],
      ['/cloud/self-instances', 'Workstation'],
      ['/cloud/storages', 'Datasets'],
      ['/projects', 'Weld inspector'],
      ['/profile/usage', 'Inference'],
      ['/profile/balance', 'Training'],
      ['/profile/team', 'Priya Nair'],
      ['/profile/tokens', 'Nightly evaluation'],
      ['/profile/ssh', 'Build server'],
      ['/profile/account', 'maya@fjordlight.example'],
      ['/models', 'models'],
    ];
    for (const [path, shown] of pages) {
      await walkTo(page, DEMO + path);
      await expect(page.getByRole('main')).toContainText(shown);
      await marked();
    }
    await page.locator(`main a[href^="${DEMO}/models/"]`).first().click();
    await expect(page).toHaveURL(/stagi-demo\/models\/./);
    await marked();
  });

  await test.step('objects of a storage, code of a project, a task with its output', async () => {
    await walkTo(page, `${DEMO}/cloud/storages`);
    await page.getByRole('main').getByRole('link', { name: 'Datasets' }).first().click();
    await tab('Objects');
    await page.getByRole('main').getByText('welds').first().click();
    await expect(page.getByRole('main')).toContainText('train.csv');
    await walkTo(page, `${DEMO}/projects`);
    await page.getByRole('main').getByRole('link', { name: 'Weld inspector' }).first().click();
    await expect(page.getByTestId('readme')).toContainText('Finds faulty welds');
    await page.getByRole('main').getByRole('link', { name: 'train.py' }).first().click();
    await expect(page.getByTestId('code-blob')).toContainText('def train_epoch');
    await marked();
    await page.goBack();
    await tab('Tasks');
    await page.getByRole('main').getByRole('link', { name: 'Evaluate the large backbone' }).first().click();
    await tab('Output');
    await expect(page.getByRole('main')).toContainText('metrics.csv');
    await marked();
  });

  await test.step('nothing was asked of the platform, and nothing is kept in the browser', async () => {
    expect(seen).toEqual([]);
    const stored = await (await page.context().storageState()).origins;
    const names = stored.flatMap(({ localStorage }) => localStorage.map(({ name }) => name));
    expect(names.filter((name) => !['theme', 'language'].includes(name))).toEqual([]);
  });

  await test.step('public pages are outside of it', async () => {
    await page.getByTestId('demo-bar').getByRole('link', { name: 'Sign up' }).click();
    await expect(page).toHaveURL(`${platform.url}/sign-up`);
    await expect(page.getByTestId('demo-bar')).toHaveCount(0);
    await page.goto(`${platform.url}${DEMO}/sign-in`);
    await expect(page).toHaveURL(`${platform.url}/sign-in`);
  });
});

test('the demo is for phones and every language, and robots read its first page alone', async ({
  page,
  platform,
  request,
}) => {
  test.setTimeout(120_000);
  await page.setViewportSize(PHONE);
  await page.goto(`${platform.url}${DEMO}/cloud/containers`);
  await expect(heading(page)).toHaveText('Containers');
  for (const path of ['/cloud/containers', '/cloud/marketplace', '/profile/usage']) {
    await walkTo(page, DEMO + path);
    await expect.poll(() => sideways(page)).toBe(0);
    await expect(page.getByTestId('demo-bar').getByRole('link', { name: 'Request a demo' })).toBeInViewport();
    await expectAccessible(page, `the demo, ${path}`);
  }
  await page.setViewportSize(DESK);
  await walkTo(page, `${DEMO}/cloud/instances`);
  await expectAccessible(page, 'the demo, instances');
  for (const [language, mark] of [
    ['cn', '虚构工作区的录制数据'],
    ['ru', 'Записанные данные вымышленного рабочего пространства'],
    ['tr', 'Kurmaca bir çalışma alanının kayıtlı verileri'],
  ] as const) {
    await page.context().addInitScript((chosen) => window.localStorage.setItem('language', chosen), language);
    await page.reload();
    await expect(page.getByTestId('demo-bar')).toContainText(mark);
    await page.setViewportSize(PHONE);
    await expect.poll(() => sideways(page)).toBe(0);
    await page.setViewportSize(DESK);
  }
  const inner = await request.get(`${platform.url}${DEMO}/cloud/instances`);
  expect([inner.status(), inner.headers()['x-robots-tag']]).toEqual([200, 'noindex']);
});

test('who is signed in sees the demo too, and stays who they are', async ({ page, platform }) => {
  const person = await enterAsNewPerson(page, platform);
  const before = await page.evaluate(() => ({ ...localStorage }));
  const seen = watch(page);
  await page.goto(platform.url + DEMO);
  await expect(page.getByRole('main')).toContainText('Training');
  await page.getByTestId('profile-menu').click();
  await expect(page.getByText('maya@fjordlight.example')).toBeVisible();
  expect(seen).toEqual([]);
  await page.getByTestId('demo-bar').getByRole('link', { name: 'Leave the demo' }).click();
  await expect(page).toHaveURL(`${platform.url}/models`);
  expect(await page.evaluate(() => ({ ...localStorage }))).toEqual(before);
  await page.getByTestId('profile-menu').click();
  await expect(page.getByText(person.email)).toBeVisible();
});
