import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { measureLogDelay } from './logDelay.ts';
import { signUpInBrowser } from './people.ts';
import type { Platform } from './platform.ts';
import { guests, leftovers, removeLeftovers, sh, ssh, TINY_IMAGE, tinyRootfs } from './remoteCommands.ts';
import { until } from './waitUntil.ts';

/** The clock of the kernel, which the shell reads without starting a program: 10 ms fine, cut off. */
const NUMBERED = `sh -c 'trap exit TERM; i=0; while true; do i=$((i+1)); read up rest < /proc/uptime; echo "line $i $up"; usleep 10000; done'`;

/**
 * Rents a server, logs in by SSH, runs a container, watches its logs, and leaves nothing behind. Answers how long the
 * server took to be online, and how late its lines stood on the screen.
 */
export async function rentAndLeave(page: Page, platform: Platform): Promise<{ seconds: number; logP95Ms: number }> {
  test.setTimeout(600_000);
  const dir = mkdtempSync(join(tmpdir(), 'stagi-story-'));
  try {
    await sh('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'own')]);
    const publicKey = await sh('cat', [join(dir, 'own.pub')]);
    await signUpInBrowser(page, platform, 'Rita Renter');
    await test.step('the first steps are listed', () => expectSteps(page, platform.url, []));

    await test.step('add an SSH key, after its mistakes were shown at the field', () =>
      addSshKey(page, platform.url, publicKey));
    const generated = await test.step('generate another: what is shown works where it was downloaded', () =>
      generateSshKey(page, dir));
    await test.step('the marketplace has servers of this machine', () => awaitOffers(page, platform.url));
    const { ip, seconds, keyName } = await test.step('rent one', () => rent(page));
    console.log(`rent → online: ${seconds.toFixed(1)} s, n = 1`);
    expect(keyName).toBe(generated);
    const keyFile = join(dir, '.ssh', keyName);

    await test.step('SSH lets the owner of the key in, and nothing of the platform but the daemon’s calls is reachable', async () => {
      expect(await ssh(keyFile, 'root', ip, 'id -un && docker info --format "{{.ServerVersion}}" | head -c 2')).toMatch(
        /^root\n\d/,
      );
      const gateway = await ssh(keyFile, 'root', ip, "ip route show default | cut -d' ' -f3");
      const codes = await ssh(
        keyFile,
        'root',
        ip,
        `for path in /dev/mail /frontend-api/user/profile / /openapi.json /daemon-api/install.sh; do curl -s -o /dev/null -w '%{http_code} ' http://${gateway}:${platform.port}$path; done`,
      );
      expect(codes.trim().split(' ')).toEqual(['404', '404', '404', '404', '200']);
    });
    const rootfs = await tinyRootfs();
    await ssh(keyFile, 'root', ip, `docker import - ${TINY_IMAGE}`, rootfs);
    rmSync(rootfs);

    await test.step('create a container, after its mistakes were shown at the field', () => createContainer(page));
    const logP95Ms = await test.step('its lines appear live', async () => {
      await page.getByRole('link', { name: 'Logs' }).click();
      const { p95, n } = await measureLogDelay(page, 500, bootTime());
      console.log(`print → screen: p95 ${p95.toFixed(0)} ms, n = ${n} lines`);
      expect(n).toBeGreaterThanOrEqual(500);
      return p95;
    });
    await test.step('all first steps are done', () => closeSteps(page, platform.url));
    await test.step('stop, start, delete it', () => stopStartDelete(page));
    await test.step('stop and start the server', () => stopAndStart(page, platform.url));
    await test.step('terminate', () => terminate(page));
    expect(await leftovers(platform.environment)).toEqual([]);
    expect(await guests(`stagi-${platform.environment}`)).toBe('0');
    expect(await sh('sh', ['-c', 'pgrep -x stagid || true'])).toBe('');
    return { seconds, logP95Ms };
  } finally {
    await removeLeftovers(platform.environment);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The checklist of first steps, and which of them are done. */
async function expectSteps(page: Page, url: string, done: string[]): Promise<void> {
  await page.goto(`${url}/cloud/instances`);
  const list = page.getByTestId('getting-started');
  await expect(list.locator('[data-step]')).toHaveCount(4);
  await expect(list.locator('[data-done]')).toHaveCount(4);
  const names = list.locator('[data-done="true"]');
  await expect.poll(() => names.evaluateAll((all) => all.map((step) => step.dataset.step))).toEqual(done);
}

async function closeSteps(page: Page, url: string): Promise<void> {
  const log = page.url();
  await expectSteps(page, url, ['key', 'server', 'container', 'log']);
  await expect(page.getByRole('heading', { name: 'You are all set' })).toBeVisible();
  await page.getByTestId('getting-started-close').click();
  await expect(page.getByTestId('getting-started')).toHaveCount(0);
  await page.goto(log);
  await page.getByRole('link', { name: 'Containers', exact: true }).first().click();
  await expect(page.getByTestId('container-row')).toHaveCount(1);
  await expect(page.getByTestId('getting-started')).toHaveCount(0);
  await page.goto(log);
}

async function addSshKey(page: Page, url: string, publicKey: string): Promise<void> {
  await page.goto(`${url}/profile/ssh`);
  await page.getByTestId('ssh-key-add').first().click();
  await page.getByTestId('ssh-key-submit').click();
  await expect(page.getByText('Title is required')).toBeVisible();
  await page.getByLabel('Title').fill('laptop');
  await page.getByLabel('Public key').fill('ssh-ed25519 not-a-key');
  await page.getByTestId('ssh-key-submit').click();
  await expect(page.getByText('Invalid SSH key')).toBeVisible();
  await page.getByLabel('Public key').fill(publicKey);
  await page.getByTestId('ssh-key-submit').click();
  await expect(page.getByRole('table').getByText('laptop')).toBeVisible();

  await page.getByTestId('ssh-key-add').first().click();
  await page.getByLabel('Title').fill('again');
  await page.getByLabel('Public key').fill(publicKey);
  await page.getByTestId('ssh-key-submit').click();
  await expect(page.getByText('This SSH key has already been added')).toBeVisible();
}

/** Pastes the shown line into a shell whose home is `home`. Returns the name of the file. */
async function generateSshKey(page: Page, home: string): Promise<string> {
  await page.getByText('Generate a key').click();
  await page.getByLabel('Title').fill('made here');
  await page.getByTestId('ssh-key-submit').click();
  const dialog = page.getByRole('dialog', { name: 'Save your private key' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByTestId('private-key-download').click(),
  ]);
  const name = download.suggestedFilename();
  expect(name).toMatch(/^stagi-ed25519-\d+$/);
  await expect(dialog.getByText(name, { exact: true })).toBeVisible();
  mkdirSync(join(home, 'Downloads'));
  await download.saveAs(join(home, 'Downloads', name));
  const lines = await dialog.locator('figure code').allTextContents();
  expect(lines).toEqual([
    `mkdir -p ~/.ssh && mv ~/Downloads/${name} ~/.ssh/ && chmod 600 ~/.ssh/${name}`,
    `ssh -i ~/.ssh/${name} root@your-server`,
  ]);
  await sh('env', [`HOME=${home}`, 'sh', '-c', lines[0] ?? '']);
  expect(await sh('ssh-keygen', ['-y', '-f', join(home, '.ssh', name)])).toMatch(/^ssh-ed25519 /);
  await page.getByTestId('private-key-done').click();
  await expect(page.getByRole('table').getByText('made here')).toBeVisible();
  return name;
}

async function awaitOffers(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/cloud/marketplace`);
  // The machine image is built once per machine; the page shows how far it is and fills itself.
  await expect(page.getByTestId('offer-row').first()).toBeVisible({ timeout: 400_000 });
  await expect(page.getByTestId('offer-row').first()).toContainText('STAGI');
  // A row is titled by its shape.
  await expect(page.getByTestId('offer-row').first().locator('[data-row-link]')).toHaveText(/^\d+ cores? · [\d.]+ GB/);
}

async function rent(page: Page): Promise<{ ip: string; seconds: number; keyName: string }> {
  await page
    .getByTestId('offer-row')
    .first()
    .getByRole('link', { name: /rent/i })
    .or(page.getByTestId('offer-row').first().getByRole('button', { name: /rent/i }))
    .first()
    .click();
  await expect(page.getByText(/about 2 minutes/).last()).toBeVisible();
  await expect(page.getByText(/up to 100 GB/).last()).toBeVisible();
  await page.getByTestId('rent-submit').click();
  await expect(page.getByText('Title is required')).toBeVisible();
  await page.getByLabel('Title').fill('My First Server');
  await expect(page.getByLabel('Unique ID')).toHaveValue('my-first-server');
  await page.getByLabel('Unique ID').fill('Bad id!');
  await page.getByTestId('rent-submit').click();
  await expect(
    page.getByText('Unique ID may contain only letters, digits and single hyphens between them'),
  ).toBeVisible();
  await page.getByLabel('Unique ID').fill('Story-Server');
  await expect(page.getByLabel('Unique ID')).toHaveValue('story-server');
  const started = Date.now();
  await page.getByTestId('rent-submit').click();
  await expect(page).toHaveURL(/\/cloud\/instances\/\d+/);
  await expect(page.getByTestId('instance-status').first()).toHaveText(/online/i, { timeout: 120_000 });
  const seconds = (Date.now() - started) / 1000;
  await expect(page.getByText(/of 100 GB used, free/)).toBeVisible();
  const line = await page
    .getByText(/ssh -i \S+ root@[\d.]+/)
    .first()
    .textContent();
  const [, keyName = '', ip = ''] = /^ssh -i ~\/\.ssh\/(\S+) root@([\d.]+)$/.exec(line ?? '') ?? [];
  return { ip, seconds, keyName };
}

async function createContainer(page: Page): Promise<void> {
  // The next step of an online server is its one primary action.
  await expect(page.locator('main [data-color="primary"]')).toHaveText(['Create a container']);
  await page.getByTestId('container-create').click();
  await page.getByTestId('container-submit').click();
  for (const text of ['Name is required', 'Unique ID is required', 'Image is required'])
    await expect(page.getByText(text)).toBeVisible();
  await page.getByLabel('Name', { exact: true }).fill('Counter');
  await page.getByRole('button', { name: /add (a )?port/i }).click();
  await page.getByLabel(/host port/i).fill('80');
  await page.getByRole('button', { name: /add (a )?volume/i }).click();
  await page.getByLabel(/(host|server) dir/i).fill('data');
  await page.getByTestId('container-submit').click();
  await expect(page.getByText('Port must be between 1000 and 9999')).toBeVisible();
  await expect(page.getByText('Volume path must start with /').first()).toBeVisible();
  await page.getByLabel(/host port/i).fill('8080');
  await page.getByLabel(/container port/i).fill('80');
  await page.getByLabel(/(host|server) dir/i).fill('/data/counter');
  await page.getByLabel(/container dir/i).fill('/data');
  await page.getByLabel('CPU', { exact: true }).fill('500');
  await page.getByLabel('Command').fill(NUMBERED);
  await page.getByLabel('Image').fill(TINY_IMAGE);
  await page.keyboard.press('Tab');
  await page.getByTestId('container-submit').click();
  await expect(page.getByText('No available CPUs to create a container')).toBeVisible();
  await page.getByLabel('CPU', { exact: true }).fill('0.5');
  await page.getByTestId('container-submit').click();
  await expect(page).toHaveURL(/\/cloud\/containers\/\d+/);
  await expect(page.getByTestId('container-status').first()).toHaveText(/running/i, { timeout: 60_000 });
}

async function stopStartDelete(page: Page): Promise<void> {
  const status = page.getByTestId('container-status').first();
  await page.getByTestId('action-stop').first().click();
  await confirmIfAsked(page);
  await expect(status).toHaveText(/stopped/i, { timeout: 60_000 });
  const last = await lastSeq(page);
  await page.getByTestId('action-start').first().click();
  await expect(status).toHaveText(/running/i, { timeout: 60_000 });
  await until('lines go on after the start', 60_000, async () => (await lastSeq(page)) > last);
  await page.getByTestId('action-delete').first().click();
  await expect(page.getByTestId('confirm-submit')).toBeDisabled();
  await page.getByTestId('confirm-slug').fill('counter');
  await page.getByTestId('confirm-submit').click();
  await expect(page).toHaveURL(/\/cloud\/containers(\?|$)/, { timeout: 60_000 });
  await expect(page.getByText('Counter')).toHaveCount(0, { timeout: 60_000 });
}

async function stopAndStart(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/cloud/instances`);
  await page.getByText('My First Server').first().click();
  const status = page.getByTestId('instance-status').first();
  await expect(page.getByTestId('action-start').first()).toBeDisabled();
  await page.getByTestId('action-stop').first().click();
  await confirmIfAsked(page);
  await expect(status).toHaveText(/stopped/i, { timeout: 60_000 });
  await page.getByTestId('action-start').first().click();
  await expect(status).toHaveText(/online/i, { timeout: 60_000 });
}

async function terminate(page: Page): Promise<void> {
  await page.getByTestId('action-terminate').first().click();
  await expect(page.getByTestId('confirm-submit')).toBeDisabled();
  await page.getByTestId('confirm-slug').fill('story-server');
  await page.getByTestId('confirm-submit').click();
  await expect(page.getByTestId('instance-status').first()).toHaveText(/terminated/i, { timeout: 60_000 });
}

async function confirmIfAsked(page: Page): Promise<void> {
  const confirm = page.getByTestId('confirm-submit');
  await confirm.waitFor({ state: 'visible', timeout: 1_500 }).then(
    () => confirm.click(),
    () => {},
  );
}

async function lastSeq(page: Page): Promise<number> {
  const seqs = await page
    .getByTestId('log-lines')
    .locator('[data-seq]')
    .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('data-seq'))));
  return Math.max(0, ...seqs);
}

/** When this machine's kernel started, in milliseconds since 1970. */
function bootTime(): number {
  return Date.now() - Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
}
