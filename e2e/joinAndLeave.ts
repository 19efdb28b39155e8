import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { type Client, createClient } from '@stagi/contract/apiClient.ts';
import { UNRESPONSIVE_AFTER_S } from '@stagi/contract/instances.ts';
import { httpSender } from '@stagi/server/src/testing/person.ts';
import { expect, test } from './fixtures.ts';
import { type OwnServer, startOwnServer } from './ownServer.ts';
import { enterAsNewPerson } from './people.ts';
import type { Platform } from './platform.ts';
import { TINY_IMAGE, tinyRootfs } from './remoteCommands.ts';
import { until } from './waitUntil.ts';

/**
 * Joins a server of somebody's own by the shown line, runs a container on it, lets its daemon die and come back, and takes
 * the server away. Answers after how many seconds it was online, and unresponsive after the death.
 */
export async function joinAndLeave(
  page: Page,
  platform: Platform,
): Promise<{ onlineSeconds: number; unresponsiveSeconds: number }> {
  test.setTimeout(600_000);
  const dir = mkdtempSync(join(tmpdir(), 'stagi-own-'));
  await enterAsNewPerson(page, platform, 'Olga Owner');
  const client = await clientOf(page, platform.url);
  await until('the network of this machine’s servers is there', 60_000, async () => {
    const { providers } = await client(api.hardware.offers, {});
    return providers.some((provider) => provider.provider === 'local' && provider.state !== 'unavailable');
  });
  const server = await startOwnServer(`own-${platform.environment}`, `stagi-${platform.environment}`);
  try {
    const { tokenFile, plainLine, line } = await test.step('the wizard gives a file and a line', () =>
      wizard(page, platform.url, dir));
    await server.copyIn(tokenFile, '/root/daemon-token.jwt');

    await test.step('without the boxes a server without NVIDIA and Ubuntu is refused', async () => {
      const said = await server.run(`(${plainLine}) 2>&1; echo "exit $?"`);
      expect(said).toMatch(/NVIDIA/);
      expect(said).toMatch(/Ubuntu/);
      expect(said).toMatch(/exit [1-9]/);
    });

    const onlineSeconds = await test.step('with them it is online', async () => {
      const started = Date.now();
      await server.run(line);
      await expect(page.getByText(/is online|joined/i).first()).toBeVisible({ timeout: 60_000 });
      const seconds = (Date.now() - started) / 1000;
      console.log(`install line → online: ${seconds.toFixed(1)} s, n = 1`);
      return seconds;
    });

    const { entities } = await client(api.selfHosted.list, {});
    const id = entities[0]?.id ?? 0;
    await page.goto(`${platform.url}/cloud/self-instances/${id}`);
    const status = page.getByTestId('instance-status').first();
    await expect(status).toHaveText(/online/i);

    await test.step('a shell of root opens on it, as its owner has allowed', async () => {
      await page.goto(`${platform.url}/cloud/self-instances/${id}/terminal`);
      await expect(page.getByTestId('terminal-state')).toHaveText('Connected');
      await page.locator('.xterm-helper-textarea').focus();
      await page.keyboard.insertText('echo I am $(id -un) of $(hostname)');
      await page.keyboard.press('Enter');
      await expect(page.getByTestId('terminal-screen')).toContainText(`I am root of ${await server.run('hostname')}`);
      await page.goto(`${platform.url}/cloud/self-instances/${id}`);
    });

    const before = await test.step('a container runs on it', () => runContainer(client, server, id));

    const unresponsiveSeconds =
      await test.step('the daemon dies: unresponsive, with its last sighting; the container runs on', async () => {
        const died = Date.now();
        expect(await server.killDaemon()).toBeGreaterThan(0);
        await expect(status).toHaveText(/unresponsive/i, { timeout: 1000 * UNRESPONSIVE_AFTER_S + 60_000 });
        const seconds = (Date.now() - died) / 1000;
        console.log(`daemon killed → unresponsive: ${seconds.toFixed(1)} s, n = 1`);
        await expect(page.getByText(/seen .*ago/i).first()).toBeVisible();
        expect(await inspect(server)).toBe(before);
        return seconds;
      });

    await test.step('the daemon comes back: online, the container untouched', async () => {
      await server.startDaemon();
      await expect(status).toHaveText(/online/i, { timeout: 60_000 });
      expect(await inspect(server)).toBe(before);
      await until(
        'the container is seen running again',
        60_000,
        async () => (await client(api.containers.list, {})).entities[0]?.status === 'running',
      );
    });

    await test.step('the file works once', async () => {
      const said = await server.run(
        'STAGI_CONFIG_DIR=/tmp/second STAGI_STATE_DIR=/tmp/second /usr/local/lib/stagi/stagid enrol --token-file daemon-token.jwt --allow-cpu --allow-any-linux 2>&1; echo "exit $?"',
      );
      expect(said).toMatch(/used/i);
      expect(said).toMatch(/exit [1-9]/);
    });

    await test.step('leaving takes our container off the server', async () => {
      await page.getByTestId('action-delete').first().click();
      await page.getByTestId('confirm-slug').fill('closet');
      await page.getByTestId('confirm-submit').click();
      await expect(page).toHaveURL(/\/cloud\/self-instances(\?|$)/);
      await until('the container is gone', 60_000, async () => (await server.run('docker ps -aq')) === '');
    });
    return { onlineSeconds, unresponsiveSeconds };
  } finally {
    await server.remove();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function wizard(
  page: Page,
  url: string,
  dir: string,
): Promise<{ tokenFile: string; plainLine: string; line: string }> {
  await page.goto(`${url}/cloud/self-instances`);
  await page.getByTestId('self-hosted-create').click();
  await page.getByTestId('wizard-next').click();
  await expect(page.getByText('Title is required')).toBeVisible();
  await page.getByLabel('Title').fill('Closet');
  await page.getByTestId('wizard-next').click();
  for (const need of ['Ubuntu', 'NVIDIA', 'Git', 'Docker'])
    await expect(page.getByText(new RegExp(need)).first()).toBeVisible();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('token-download').click()]);
  expect(download.suggestedFilename()).toBe('daemon-token.jwt');
  const tokenFile = join(dir, 'daemon-token.jwt');
  await download.saveAs(tokenFile);
  const command = page.getByTestId('install-command');
  const plainLine = ((await command.textContent()) ?? '').trim();
  expect(plainLine).toMatch(/sha256sum/);
  await expect(page.getByTestId('allow-cpu')).not.toBeChecked();
  await expect(page.getByTestId('allow-any-linux')).not.toBeChecked();
  await expect(page.getByTestId('allow-host-terminal')).not.toBeChecked();
  await expect(page.getByTestId('allow-any-folder')).not.toBeChecked();
  await page.getByTestId('allow-cpu').check();
  await page.getByTestId('allow-any-linux').check();
  await page.getByTestId('allow-host-terminal').check();
  const line = ((await command.textContent()) ?? '').trim();
  expect(line).toContain('--allow-cpu');
  expect(line).toContain('--allow-any-linux');
  expect(line).toContain('--allow-host-terminal');
  return { tokenFile, plainLine, line };
}

async function runContainer(client: Client, server: OwnServer, instanceId: number): Promise<string> {
  const rootfs = await tinyRootfs();
  await server.copyIn(rootfs, '/root/rootfs.tar');
  rmSync(rootfs);
  await server.run(`docker import /root/rootfs.tar ${TINY_IMAGE}`);
  const { entity } = await client(api.containers.create, {
    instanceRef: { id: instanceId },
    title: 'Sleeper',
    slug: `sleeper-${Date.now()}`,
    dockerImage: TINY_IMAGE,
    command: "sh -c 'echo up; sleep 100000'",
    cpus: 0.1,
  });
  await until(
    'the container runs',
    60_000,
    async () => (await client(api.containers.view, { id: entity.id })).entity.status === 'running',
  );
  await until('its line is stored', 60_000, async () => {
    const { lines } = await client(api.logging.query, { source: { type: 'docker-container', id: entity.id } });
    return lines[0]?.text === 'up';
  });
  return inspect(server);
}

/** Which container runs there and since when. */
function inspect(server: OwnServer): Promise<string> {
  return server.run("docker inspect -f '{{.Id}} {{.State.StartedAt}} {{.State.Running}}' $(docker ps -aq)");
}

/** The typed client with the session of a browser page. */
async function clientOf(page: Page, url: string): Promise<Client> {
  const tokens = await page.evaluate(() => ({
    accessToken: localStorage.getItem('accessToken') ?? '',
    refreshToken: localStorage.getItem('refreshToken') ?? '',
  }));
  let workspaceId: number | null = null;
  const client = createClient({
    send: httpSender(url),
    // The page owns the session: its tokens are used while they live, never rotated from here.
    session: { get: () => tokens, set: () => {} },
    clientId: () => workspaceId,
  });
  workspaceId = (await client(api.user.profile, {})).userProfile.clientRelations[0]?.clientId ?? null;
  return client;
}
