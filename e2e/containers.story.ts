import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { encodeRecord } from '@stagi/contract/frames.ts';
import { connectDaemon, enrolNode, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';
import { httpSender, signUp } from '@stagi/server/src/testing/person.ts';
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
    const daemon = await connectDaemon(platform.url, await enrolNode(platform.url, daemonToken), {
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
    await search(page, daemon, state.containers[0]?.id ?? 0);
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

  const gpus = page.getByRole('group', { name: 'GPUs' });
  await expect(gpus).toHaveAccessibleDescription('Each belongs to one container at a time');
  await gpus.getByLabel(/#1 H100/).check();
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

async function search(page: Page, daemon: TestDaemon, containerId: number): Promise<void> {
  const print = await openLog(daemon, containerId);
  await print(1, 40);
  await page.getByRole('link', { name: 'Logs' }).click();
  const lines = page.getByTestId('log-lines').locator('[data-seq]');
  const box = page.getByRole('searchbox', { name: 'Search lines' });
  const mode = page.getByRole('combobox', { name: 'How to search' });
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
