import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { encodeRecord } from '@stagi/contract/frames.ts';
import { enrolNode, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { startPlatform } from './platform.ts';

const GPUS = [0, 1].map((index) => ({ index, name: 'H100', memoryMb: 81_920 }));

test('a container is created from the form and its log is searched in both ways, live', async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-containers-'));
  const daemons = join(folder, 'daemon');
  mkdirSync(daemons);
  writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  const platform = await startPlatform('containers', { LOCAL_CLOUD: 'off', STAGI_DAEMON_DIR: daemons });
  try {
    const person = await signUp(platform.url, httpSender(platform.url), { name: 'Ada', email: 'ada@example.com' });
    const { daemonToken } = await person.client(api.selfHosted.create, { title: 'Lab 3', slug: 'lab-3' });
    const daemon = await connectLiveDaemon(platform.url, await enrolNode(platform.url, daemonToken), {
      facts: { gpus: GPUS },
    });
    await page.goto(`${platform.url}/sign-in`);
    await page.evaluate(
      ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
      person.tokens(),
    );
    await create(page, platform.url);
    const state = await daemon.desired(({ containers }) => containers.length > 0);
    daemon.applyDesired(state);
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i);
    const id = state.containers[0]?.id ?? 0;
    const print = await openLog(daemon, id);
    await search(page, print);
    await followsRuns(page, daemon, print, id);
    await fillsTheWindow(page);
    await changesTheImage(page, person, daemon);
    await daemon.close();
  } finally {
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function create(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/cloud/containers?new=1`);
  const server = page.getByRole('combobox', { name: 'Server' });
  await expect(server).toHaveText('Lab 3');
  await page.getByTestId('container-submit').click();
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.getByLabel('Name', { exact: true }).fill('Counter');
  await expect(page.getByLabel('Unique ID')).toHaveValue('counter');
  await page.getByLabel('Image').fill('nginx:1.29');
  await page.keyboard.press('Tab');

  const restart = page.getByRole('combobox', { name: 'Restart' });
  await restart.focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('listbox', { name: 'Restart' }).getByRole('option', { selected: true })).toHaveCount(1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(restart).toBeFocused();

  const gpus = page.getByRole('group', { name: 'GPU' });
  await expect(gpus).toHaveAccessibleDescription('GPU is required Each belongs to one container at a time');
  await expect(gpus.getByRole('checkbox', { checked: true })).toHaveCount(0);
  await gpus.getByLabel('None').check();
  await gpus.getByLabel(/#1 H100/).check();
  await expect(gpus.getByLabel('None')).not.toBeChecked();
  await page.getByTestId('add-port').click();
  await expect(page.getByLabel('Host port')).toBeFocused();
  await page.getByLabel('Host port').fill('80');
  await page.getByLabel('Container port').fill('80');
  await page.getByTestId('container-submit').click();
  await expect(page.getByLabel('Host port')).toBeFocused();
  await expect(page.getByLabel('Host port')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Host port').fill('8080');
  await page.getByTestId('container-submit').click();
  await expect(page).toHaveURL(/\/cloud\/containers\/\d+/);
}

type Print = (from: number, to: number) => Promise<void>;

async function search(page: Page, print: Print): Promise<void> {
  await print(1, 40);
  await page.getByRole('link', { name: 'Logs' }).click();
  const lines = page.getByTestId('log-lines').locator('[data-seq]');
  const box = page.getByRole('searchbox', { name: 'Search lines' });
  const mode = page.getByRole('combobox', { name: 'Search mode' });
  await expect(lines.last()).toContainText('step 40');
  await box.fill('step 3');
  await expect(lines).toHaveCount(11);

  await mode.click();
  await page.getByRole('option', { name: 'Line contains regex match' }).click();
  await expect(page).toHaveURL(/mode=regex/);
  await box.fill('(');
  await expect(box).toHaveAccessibleDescription('This regular expression is not valid');
  await expect(page.getByText('Nothing to show')).toBeVisible();
  await box.fill('^STEP \\d*7\\b');
  await expect(lines).toHaveCount(4);
  await expect(box).toHaveAccessibleDescription('');
  await print(41, 60);
  await expect(lines).toHaveCount(6);
  await expect(lines.last()).toContainText('step 57');
  await page.reload();
  await expect(mode).toHaveText('Line contains regex match');
  await expect(lines).toHaveCount(6);
  await box.fill('^nothing$');
  await expect(page.getByText('No line matches “^nothing$”')).toBeVisible();
}

/** A restart after a crash is marked between the lines of the two runs; a paused view is not live. */
async function followsRuns(page: Page, daemon: TestDaemon, print: Print, id: number): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search lines' }).fill('');
  const lines = page.getByTestId('log-lines').locator('[data-seq]');
  const connection = page.getByTestId('log-connection');
  await expect(lines.last()).toContainText('step 60');
  await expect(connection).toHaveText('Live');
  await page.getByTestId('log-pause').click();
  await expect(connection).toHaveText('Paused');
  await page.getByTestId('log-pause').click();
  await expect(connection).toHaveText('Live');
  await lines.last().hover();
  await page.mouse.wheel(0, -400);
  await expect(connection).toHaveText('Paused');

  const now = Date.now();
  const shows = (more: Partial<ActualContainer>) => {
    daemon.inventory.containers = daemon.inventory.containers.map((one) => (one.id === id ? { ...one, ...more } : one));
    daemon.sendInventory();
  };
  shows({ state: 'restarting', exitCode: 3, restarts: 4, finishedAt: new Date(now).toISOString() });
  await expect(page.getByTestId('container-status')).toHaveText('Crashing');
  shows({ state: 'running', exitCode: null, startedAt: new Date(now + 20).toISOString() });
  await print(61, 80);
  await page.getByTestId('log-follow').click();
  await expect(connection).toHaveText('Live');
  await expect(page.getByTestId('log-run')).toHaveText(/^Run 1 ended with exit code 3 · Run 2 started /);
  await expect(page.getByTestId('log-lines').locator('[data-testid=log-run] + [data-seq]')).toContainText('step 61');
}

/** At every width the newest line and the controls are in sight, and most of the rest is lines. */
async function fillsTheWindow(page: Page): Promise<void> {
  const lines = page.getByTestId('log-lines').locator('[data-seq]');
  const controls = [page.getByRole('searchbox', { name: 'Search lines' }), page.getByTestId('log-pause')];
  for (const [width, height, count] of [
    [360, 740, 12],
    [768, 1024, 24],
    [1280, 800, 14],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expect(lines.last()).toContainText('step 80');
    await expect(lines.last()).toBeInViewport({ ratio: 1 });
    for (const control of controls) await expect(control).toBeInViewport({ ratio: 1 });
    const visible = await page.getByTestId('log-lines').evaluate((list) => {
      const { top, bottom } = list.getBoundingClientRect();
      const isInside = (line: Element) => {
        const place = line.getBoundingClientRect();
        return place.top >= top && place.bottom <= Math.min(bottom, window.innerHeight);
      };
      return [...list.querySelectorAll('[data-seq]')].filter(isInside).length;
    });
    expect.soft(visible, `lines in sight at ${width}×${height}`).toBeGreaterThanOrEqual(count);
    const overflow = await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
    expect.soft(overflow, `the page itself does not scroll at ${width}×${height}`).toBeLessThanOrEqual(0);
  }
}

/** Prints lines as the container does whose daemon this is. */
async function openLog(daemon: TestDaemon, containerId: number): Promise<(from: number, to: number) => Promise<void>> {
  daemon.send({ type: 'log-open', stream: 1, containerId, epoch: 'docker id' });
  const { cursor } = await daemon.next('log-resume', ({ stream }) => stream === 1);
  let at = cursor.offset;
  return async (from, to) => {
    const bytes = Buffer.concat(
      Array.from({ length: to - from + 1 }, (_, index) =>
        encodeRecord({
          timeNs: BigInt(Date.now()) * 1_000_000n,
          stream: 'stdout',
          partial: false,
          text: Buffer.from(`step ${from + index} of many`),
        }),
      ),
    );
    daemon.sendBytes(1, at, bytes);
    at += bytes.length;
    const end = at;
    await daemon.next('credit', ({ stream, offset }) => stream === 1 && offset === end);
  };
}

/** An image that cannot be pulled: the cause, the attempts, and the form that changes it. */
async function changesTheImage(page: Page, person: Person, daemon: TestDaemon): Promise<void> {
  const { entities } = await person.client(api.selfHosted.list, {});
  const { entity } = await person.client(api.containers.create, {
    instanceRef: { id: entities[0]?.id ?? 0 },
    title: 'Broken',
    slug: 'broken',
    dockerImage: 'nowhere.example/broken:1',
    env: [{ name: 'TOKEN', value: 'hidden' }],
    cpus: 3,
    gpuIds: [0],
    portMappings: [{ host: 8888, container: 88, visibility: 'public' }],
  });
  const about = { containerId: entity.id, gen: 1 };
  const cause = 'The registry of nowhere.example/broken:1 cannot be reached from the server';
  daemon.send({ type: 'progress', ...about, phase: 'pulling', detail: 'nowhere.example/broken:1', fraction: null });
  await page.goto(`${new URL(page.url()).origin}/cloud/containers/${entity.id}`);
  await expect(page.getByRole('progressbar')).toBeVisible();
  daemon.send({
    type: 'failed',
    ...about,
    phase: 'pull',
    message: cause,
    permanent: false,
    attempt: 3,
    retryInMs: 90_000,
  });
  const note = page.getByRole('alert').filter({ hasText: 'The image could not be pulled' });
  await expect(note).toContainText(cause);
  await expect(note.getByTestId('next-attempt')).toHaveText(/^Attempt 3 failed\. Next attempt: .* in 1:\d\d$/);
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await expect(page.getByText(/times out in 2[45]:\d\d/)).toBeVisible();

  await page.getByTestId('change-image').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Edit “Broken”');
  await expect(page.getByText('The container does not exist yet: it is created as you save it.')).toBeVisible();
  await expect(page.getByLabel('Name of the variable')).toHaveValue('TOKEN');
  await expect(page.getByRole('group', { name: 'GPU' }).getByLabel(/#0 H100/)).toBeChecked();
  await page.getByLabel('Image').fill('nginx:1.29');
  await page.keyboard.press('Tab');
  await page.getByTestId('container-save').click();
  await expect(page).toHaveURL(/\/cloud\/containers\/\d+$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Broken');
  const { containers } = await daemon.desired((state) =>
    state.containers.some(({ spec }) => spec.env.length === 1 && spec.image === 'nginx:1.29'),
  );
  expect(containers.find(({ slug }) => slug === 'broken')).toMatchObject({
    state: 'running',
    spec: { gpuIds: [0], env: [{ name: 'TOKEN', value: 'hidden' }] },
  });
  const edited = await person.client(api.containers.view, { id: entity.id });
  expect(edited.entity).toMatchObject({
    slug: 'broken',
    status: 'creating',
    portMappings: [{ host: 8888, container: 88, visibility: 'public' }],
  });
}
