import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { connectDaemon, enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { type Person, sender, signUp } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { type Platform, startPlatform } from './platform.ts';
import { until } from './until.ts';

type RouteName = keyof typeof ROUTES;

/** Those that only lead on, and the gallery, which has a story of its own. */
const NOT_SCREENS: readonly RouteName[] = ['cloud', 'profile', 'kit'];

/** Tabs, dialogs and forms with an address of their own. */
const MORE: Partial<Record<RouteName, readonly string[]>> = {
  instance: ['/containers', '/activities', '/access'],
  selfInstance: ['/containers', '/activities'],
  selfInstances: ['?new=1'],
  container: ['/logs'],
  containers: ['?new=1'],
};

const platformAndCloud = test.extend<object, { lab: { platform: Platform; person: Person; ids: Ids } }>({
  lab: [
    async ({ browserName: _ }, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'stagi-accessible-'));
      const daemons = join(folder, 'daemon');
      mkdirSync(daemons);
      writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
      const cloud = await spawnFakeCloud({ statePath: join(folder, 'cloud.json') });
      const platform = await startPlatform('accessible', {
        LOCAL_CLOUD: 'off',
        FAKE_CLOUD_URL: cloud.url,
        STAGI_DAEMON_DIR: daemons,
      });
      const person = await signUp(platform.url, sender(platform.url), { name: 'Ada', email: 'ada@example.com' });
      const { ids, close } = await furnish(platform.url, person);
      await use({ platform, person, ids });
      await close();
      await platform.stop();
      await cloud.kill();
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 180_000 },
  ],
});

platformAndCloud('axe finds nothing serious on any route, in either theme', async ({ page, lab }) => {
  const { platform, person, ids } = lab;
  let looks = 0;
  const look = async (path: string): Promise<void> => {
    await open(page, platform.url + path);
    looks += await expectAccessible(page, path);
  };
  const screens = (Object.keys(ROUTES) as RouteName[]).filter((name) => !NOT_SCREENS.includes(name));
  for (const name of screens) {
    const route: { path: string; public?: boolean } = ROUTES[name];
    if (route.public) await look(route.path);
  }
  await look('/no-such-page');

  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  for (const name of screens) {
    const route: { path: string; public?: boolean } = ROUTES[name];
    if (route.public) continue;
    const path = route.path.replace(':id', String(ids[name as keyof Ids]));
    expect(path, `${name}: an id for its address`).not.toContain('undefined');
    for (const more of ['', ...(MORE[name] ?? [])]) await look(path + more);
  }
  await lookAtDialogs(page, platform.url, ids);
  console.log(`axe on routes: n = ${looks} looks at ${looks / 2} screens`);
  expect(looks).toBeGreaterThanOrEqual(2 * screens.length);

  async function lookAtDialogs(page: Page, url: string, { instance }: Ids): Promise<void> {
    await open(page, `${url}/cloud/marketplace`);
    await page.getByTestId('offer-row').first().getByText(/rent/i).click();
    await expect(page.getByTestId('rent-submit')).toBeVisible();
    looks += await expectAccessible(page, 'the rent panel');
    await open(page, `${url}/cloud/instances/${instance}`);
    await page.getByTestId('action-terminate').click();
    await expect(page.getByTestId('confirm-slug')).toBeVisible();
    looks += await expectAccessible(page, 'the question before terminating');
    await page.keyboard.press('Escape');
    await page.getByTestId('profile-menu').click();
    looks += await expectAccessible(page, 'the profile');
  }
});

interface Ids {
  instance: number;
  selfInstance: number;
  container: number;
}

/** A server rented, one attached, a container on it. */
async function furnish(url: string, { client }: Person): Promise<{ ids: Ids; close(): Promise<void> }> {
  const { entity: key } = await client(api.sshKeys.generate, { title: 'laptop' });
  const offer = await until('the simulated cloud has offers', 30_000, async () => {
    const { entities } = await client(api.hardware.offers, { entityFilterRequest: {} });
    return entities[0];
  });
  const { entity: rented } = await client(api.instances.rent, {
    offerId: offer.offerId,
    title: 'Training',
    slug: 'training',
    sshKeyId: key.id,
  });
  const { entity: own, daemonToken } = await client(api.selfHosted.create, { title: 'Lab 3', slug: 'lab-3' });
  const daemon = await connectDaemon(url, await enrolNode(url, daemonToken));
  const { entities: containers } = await client(api.containers.create, {
    instanceRef: { id: own.id },
    title: 'Web',
    slug: 'web',
    dockerImage: 'nginx:1.29',
    env: [],
    cpus: 1,
    gpuIds: [],
    portMappings: [],
    directoryMappings: [],
    restartPolicy: 'no',
    count: 1,
  });
  return {
    ids: { instance: rented.id, selfInstance: own.id, container: containers[0]?.id ?? 0 },
    close: () => daemon.close(),
  };
}

/** The screen as it is to be used: headed, and no longer waiting for anything. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
}
