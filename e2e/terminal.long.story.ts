import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { readConfig } from '@stagi/server/src/config/config.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { type Running, start } from '@stagi/server/src/start.ts';
import { createTestDatabase, startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { httpSender, type Person } from '@stagi/server/src/testing/person.ts';
import { signUpDirectly } from '@stagi/server/src/testing/signUpDirectly.ts';
import { type ChaosProxy, startChaosProxy } from '../faults/link/chaosProxy.ts';
import { randomFrom } from '../faults/link/random.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { enter, openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
/** Longer than a stream may be silent. */
const CUT_MS = 30_000;
const NO_SHELL_IMAGE = 'stagi-test-no-shell:1';

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let running: Running;
let startPlatform: () => Promise<void>;
let url: string;
let daemon: TestDaemon;
let folder: string;
/** Between the browser and the platform. */
let network: ChaosProxy;

test.beforeAll(async () => {
  await ensureTestImage();
  await ensureImageWithoutShell();
  folder = mkdtempSync(join(tmpdir(), 'stagi-terminal-'));
  mkdirSync(join(folder, 'daemon'));
  writeFileSync(join(folder, 'daemon/stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  postgres = await startTestPostgres();
  database = await createTestDatabase();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const config = readConfig(
    {
      PORT: String(port),
      METRICS_PORT: 'off',
      S3_PORT: String(await freePort()),
      GIT_SSH_PORT: String(await freePort()),
      DATABASE_URL: database.url,
      STAGI_DATA: join(folder, 'data'),
      STAGI_DAEMON_DIR: join(folder, 'daemon'),
      LOCAL_CLOUD: 'off',
      STAGI_ENVIRONMENT: 'test',
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
    },
    ['--role=api,worker,s3'],
  );
  startPlatform = async () => {
    running = await start(config);
  };
  await startPlatform();
  network = await startChaosProxy(() => port, randomFrom(1));
});
test.afterAll(async () => {
  await network?.close();
  await daemon?.cleanUp();
  await running?.stop();
  await database?.drop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a shell in a container: typed in, cut off, resumed, ended; also on a phone', async ({ browser }) => {
  test.setTimeout(170_000);
  const ada = await signUpDirectly(running.ctx, httpSender(url), { name: 'Ada Lovelace', email: 'ada@example.com' });
  const serverId = await aServer(ada);
  const containerId = await aContainer(ada, serverId, `shell-${process.pid}`, TEST_IMAGE);
  const bareId = await aContainer(ada, serverId, `bare-${process.pid}`, NO_SHELL_IMAGE);
  const page = await openAs(browser, `http://127.0.0.1:${network.port}`, ada, `/cloud/containers/${containerId}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);

  await test.step('a shell opens in its tab, and what is typed is run', async () => {
    await page.getByRole('link', { name: 'Terminal', exact: true }).click();
    await expect(page.getByTestId('terminal-state')).toHaveText('Connected');
    await expect(page.getByTestId('terminal-tab')).toHaveText('sh');
    await run(page, 'echo $((6*7)) 日本語 🚀');
    await expect(screen(page)).toContainText('42 日本語 🚀');
    await run(page, 'seq 1 5');
    await expect(screen(page)).toContainText('5');
    await expectAccessible(page, 'a terminal');
  });

  await test.step('the shell knows the size of the window', async () => {
    const sizeNow = async (): Promise<string> => {
      await run(page, 'clear; busybox stty size; echo size');
      await expect(screen(page)).toContainText('size');
      return /(\d+) (\d+)/.exec((await screen(page).locator('.xterm-rows').textContent()) ?? '')?.[0] ?? '';
    };
    const before = await sizeNow();
    await page.setViewportSize({ width: 900, height: 600 });
    await expect.poll(sizeNow).not.toBe(before);
    await page.setViewportSize(DESK);
  });

  await test.step('a second shell has a tab of its own; output is searched and pasted', async () => {
    await page.getByTestId('terminal-new').click();
    await page.getByTestId('terminal-new-ash').click();
    await expect(page.getByTestId('terminal-end')).toContainText('This image has no ash');
    await page.getByTestId('terminal-close').click();
    await expect(page.getByTestId('terminal-tab')).toHaveCount(1);
    await run(page, 'clear; echo nee""dle');
    await expect(screen(page)).toContainText('needle');
    await page.evaluate(() => navigator.clipboard.writeText('echo pas""ted'));
    await page.keyboard.press('Control+Shift+F');
    await page.getByTestId('terminal-search-text').fill('needle');
    await expect(page.getByTestId('terminal-found')).toHaveText(/1 \/ \d/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+V');
    await page.keyboard.press('Enter');
    await expect(screen(page)).toContainText('\npasted', { useInnerText: true });
    const word = await screen(page)
      .locator('.xterm-rows > div', { hasText: /^pasted/ })
      .boundingBox();
    await page.mouse.dblclick(word!.x + 12, word!.y + word!.height / 2);
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('pasted');
  });

  await test.step('a restart of the platform is survived by what runs', async () => {
    await run(page, 'clear; (sleep 1; echo mean""while) & echo sta""rted');
    await expect(screen(page)).toContainText('started');
    await running.stop();
    await expect(page.getByTestId('terminal-state')).toHaveText('Connection lost');
    await startPlatform();
    await expect(page.getByTestId('terminal-state')).toHaveText('Connected again', { timeout: 60_000 });
    await expect(screen(page)).toContainText('meanwhile');
    await run(page, 'echo af""ter');
    await expect(screen(page)).toContainText('after');
  });

  await test.step('so is a network that is away for half a minute', async () => {
    await run(page, 'clear; x=remembered; echo re""ady');
    // After each prompt BusyBox asks the terminal for the position of its cursor. It reads 16 bytes at a time: what was
    // typed is lost where it comes in one piece with the answer. So the network is cut after the prompt is shown.
    await expect(screen(page)).toContainText(/ready\n.*#/, { useInnerText: true });
    network.set({ blackhole: true });
    const cutAt = Date.now();
    await expect(page.getByTestId('terminal-state')).toHaveText('Connection lost', { timeout: CUT_MS });
    await expect.poll(() => Date.now() - cutAt, { timeout: 2 * CUT_MS }).toBeGreaterThan(CUT_MS);
    network.set({ blackhole: false });
    await expect(page.getByTestId('terminal-state')).toHaveText('Connected again', { timeout: 30_000 });
    await run(page, 'echo still $x');
    await expect(screen(page)).toContainText('still remembered');
  });

  await test.step('a page that is loaded again comes back to the same shell', async () => {
    // The program asks for the kind of the terminal: the answer comes as if it was typed, once.
    await run(page, "clear; printf '\\033[>c'; read -r kind");
    await expect(screen(page)).toContainText('276;0c');
    await page.keyboard.press('Enter');
    await page.reload();
    await expect(page.getByTestId('terminal-state')).toHaveText('Connected again');
    await run(page, 'echo again $x');
    await expect(screen(page)).toContainText('again remembered', { useInnerText: true });
    expect((await screen(page).locator('.xterm-rows').textContent())?.match(/276;0c/g)).toHaveLength(1);
  });

  await test.step('on a phone it has the keys that phones lack', async () => {
    await page.setViewportSize(PHONE);
    await expect(page.getByTestId('terminal-keys')).toBeVisible();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await run(page, 'clear; sleep 1000');
    await page.getByTestId('terminal-keys').getByRole('button', { name: 'Ctrl' }).click();
    await screen(page).click();
    await page.keyboard.press('c');
    await run(page, 'echo inter""rupted');
    await expect(screen(page)).toContainText('interrupted');
    await expectAccessible(page, 'a terminal on a phone');
    await page.setViewportSize(DESK);
  });

  await test.step('its end is said, and another one is a click away', async () => {
    await run(page, 'exit 3');
    await expect(page.getByTestId('terminal-end')).toContainText('The shell has ended with exit code 3');
    await page.getByTestId('terminal-again').click();
    await expect(page.getByTestId('terminal-state')).toHaveText('Connected');
    await run(page, 'echo new $x.');
    await expect(screen(page)).toContainText('new .');
  });

  await test.step('an image without a shell, and a container that stands still, say why there is none', async () => {
    await page.goto(`http://127.0.0.1:${network.port}/cloud/containers/${bareId}/terminal`);
    await expect(page.getByTestId('terminal-end')).toContainText('This image has no shell');
    await ada.client(api.containers.stop, { id: bareId });
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`http://127.0.0.1:${network.port}/cloud/containers/${bareId}`);
    await expect(page.getByTestId('container-status')).toContainText(/stopped|exited/i, { timeout: 40_000 });
    await page.getByRole('link', { name: 'Terminal', exact: true }).click();
    await expect(page.getByText('The container is not running')).toBeVisible();
    await expect(page.getByTestId('terminal-open')).toHaveAttribute('aria-disabled', 'true');
  });

  await test.step('a browser that cannot show it says so', async () => {
    const context = await browser.newContext({ userAgent: 'Opera/9.80 (Android; Opera Mini/36.2; U; en) Presto/2.12' });
    const old = await context.newPage();
    await enter(old, url, ada, `/cloud/containers/${containerId}/terminal`);
    await expect(old.getByText('The console is not supported in Opera Mini')).toBeVisible();
    await context.close();
  });

  await test.step('the audit log tells who had a terminal', async () => {
    const { entities } = await ada.client(api.audit.list, { entityFilterRequest: { limit: 100 } });
    const of = (action: string) => entities.filter((entry) => entry.action === action);
    const opened = of('docker-container/terminal/open');
    expect(opened.filter(({ outcome }) => outcome === 'done')).toHaveLength(2);
    expect(opened.filter(({ outcome }) => outcome === 'refused').length).toBeGreaterThanOrEqual(2);
    expect(of('docker-container/terminal/end')[0]?.detail).toMatchObject({ exitCode: 3 });
  });
  await page.context().close();
});

const screen = (page: Page) => page.getByTestId('terminal-screen').filter({ visible: true });

/** Types a line into the shell. */
async function run(page: Page, line: string): Promise<void> {
  await page.locator('.xterm-helper-textarea').filter({ visible: true }).last().focus();
  await page.keyboard.insertText(line);
  await page.keyboard.press('Enter');
}

/** A rented server whose daemon runs on this machine's Docker. */
async function aServer(ada: Person): Promise<number> {
  const { ctx } = running;
  const id = await aRentedInstance(ctx, ada);
  const { token } = await issueEnrolment(ctx, ctx.db, id, 'rented');
  daemon = await createDaemon({ node: String(id), token: async () => token });
  daemon.start();
  await until('the server can open terminals', 60_000, async () => {
    const { entity } = await ada.client(api.instances.view, { id });
    return entity.terminalRefusal === null;
  });
  return id;
}

async function aContainer(ada: Person, serverId: number, slug: string, dockerImage: string): Promise<number> {
  const { entity } = await ada.client(api.containers.create, {
    instanceRef: { id: serverId },
    title: slug,
    slug,
    dockerImage,
    command: 'sleep 10000',
    cpus: 0.5,
  });
  await until('the container runs', 60_000, async () => {
    const { entity: container } = await ada.client(api.containers.view, { id: entity.id });
    return container.status === 'running' && container.terminalRefusal === null;
  });
  return entity.id;
}

/** One program under names that are none of a shell. */
async function ensureImageWithoutShell(): Promise<void> {
  if ((await docker.listImages({ filters: { reference: [NO_SHELL_IMAGE] } })).length > 0) return;
  const container = await docker.createContainer({
    Image: TEST_IMAGE,
    Cmd: ['busybox', 'rm', '/bin/sh'],
  });
  await container.start();
  await container.wait();
  const [repo, tag] = NO_SHELL_IMAGE.split(':');
  await container.commit({ repo, tag });
  await container.remove();
}
