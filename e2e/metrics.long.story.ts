import { api } from '@stagi/contract/api.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { makePartitions } from '@stagi/server/src/usageSamples/partitions.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
const BUSY = 'while :; do n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; echo beat; sleep 0.2; done';

let app: TestApp;
let stop: () => Promise<void>;
let daemon: TestDaemon;
test.beforeAll(async () => {
  await ensureTestImage();
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ SAMPLE_SECONDS: '2' })));
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
});

test('a container is watched: its charts live, over time, and its log at a moment', async ({ browser }) => {
  test.setTimeout(120_000);
  const ada = await app.signUp('Ada Lovelace');
  const { server, container } = await prepare(ada);
  const page = await openAs(browser, app.ctx.config.appOrigin, ada, `/cloud/containers/${container}/metrics`);
  await page.setViewportSize(DESK);

  await test.step('the charts appear and move', async () => {
    await expect(page.getByTestId('metrics-cpu')).toBeVisible();
    await expect(page.getByTestId('metrics-value-cpu')).toContainText('cores');
    await expect(page.getByTestId('metrics-value-memory')).toContainText(/\d+(\.\d)? [KM]B/);
    // A container without GPUs has no charts of them.
    await expect(page.getByTestId(/^metrics-\d/)).toHaveCount(0);
    const before = await page.getByTestId('metrics-cpu').getAttribute('aria-valuemax');
    await expect
      .poll(() => page.getByTestId('metrics-cpu').getAttribute('aria-valuemax'), { timeout: 60_000 })
      .not.toBe(before);
  });

  await test.step('the range stands in the address', async () => {
    await page.getByText('6h', { exact: true }).click();
    await expect(page).toHaveURL(/range=6h/);
    await page.reload();
    await expect(page.getByRole('radio', { name: '6h' })).toBeChecked();
    await page.getByText('1h', { exact: true }).click();
    await expect(page).toHaveURL(/range=1h/);
  });

  await test.step('a stretch is dragged out, and left again', async () => {
    const plot = page.getByTestId('metrics-cpu');
    const { x, y, width } = (await plot.boundingBox())!;
    await page.mouse.move(x + width * 0.6, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.8, y + 60, { steps: 4 });
    await page.mouse.move(x + width - 2, y + 60, { steps: 4 });
    await page.mouse.up();
    await expect(page).toHaveURL(/range=[^&]*Z%7E|range=[^&]*Z~/);
    await expect(page.getByTestId('metrics-value-cpu')).toContainText('cores');
    await page.getByTestId('metrics-back').click();
    await expect(page).toHaveURL(/range=1h/);
  });

  await test.step('the keyboard reads a moment and opens its log', async () => {
    const plot = page.getByTestId('metrics-cpu');
    await plot.focus();
    await page.keyboard.press('End');
    await expect(plot).toHaveAttribute('aria-valuetext', /\d\d:\d\d:\d\d UTC.*cores/);
    await page.keyboard.press('Enter');
    await page.getByTestId('metrics-log-link').click();
    await expect(page).toHaveURL(/\/logs\?range=/);
    await expect(page.getByTestId('log-lines')).toContainText('beat');
    await page.goBack();
  });

  await test.step('a click holds a moment for all charts', async () => {
    const memory = page.getByTestId('metrics-memory');
    // Nothing was measured there.
    await memory.click({ position: { x: 200, y: 60 } });
    await expect(page.getByTestId('metrics-log-link')).toHaveCount(0);
    const { width } = (await memory.boundingBox())!;
    await memory.click({ position: { x: width - 12, y: 60 } });
    await expect(page.getByTestId('metrics-log-link')).toHaveCount(1);
    await expect(page.locator('figure p span')).not.toHaveCount(0);
    await page.mouse.move(5, 5);
    await expect(page.getByTestId('metrics-log-link')).toBeVisible();
    await expectAccessible(page, 'metrics of a container');
  });

  await test.step('a phone has room for it', async () => {
    await page.setViewportSize(PHONE);
    await expect(page.getByTestId('metrics-cpu').locator('canvas')).toBeVisible();
    await expect.poll(() => sideways(page)).toBe(0);
  });

  await test.step('a server shows its GPUs, gaps as gaps and its figures as a table', async () => {
    await page.setViewportSize(DESK);
    await page.goto(`${app.ctx.config.appOrigin}/cloud/instances/${server}/metrics?range=1h`);
    await expect(page.getByTestId('metrics-0gpuUse')).toBeVisible();
    await expect(page.getByTestId('metrics-1gpuPower')).toBeVisible();
    await expect(page.getByTestId('metrics-log-link')).toHaveCount(0);
    await page.getByText('Show as table').click();
    await expect(page.getByRole('row', { name: /GPU 0: temperature/ })).toContainText('°C');
    await expectAccessible(page, 'metrics of a server');
    await page.setViewportSize(PHONE);
    await expect.poll(() => sideways(page)).toBe(0);
  });

  await test.step('an earlier agent is named as the reason', async () => {
    await app.ctx.db.updateTable('daemon_node').set({ features: [] }).where('instance_id', '=', server).execute();
    await page.reload();
    await expect(page.getByText('The agent of this server is too old for this: install it again')).toBeVisible();
    // What an agent has sent before is still shown.
    await expect(page.getByTestId('metrics-cpu')).toBeVisible();
  });
});

async function prepare(ada: Person): Promise<{ server: number; container: number }> {
  const { db, secrets } = app.ctx;
  const server = await aRentedInstance(app.ctx, ada);
  const signing = { keys: await loadSigningKeys(db, secrets), daemonOrigin: app.url };
  const { token } = await issueEnrolment(signing, db, server, 'rented');
  daemon = await createDaemon({ node: String(server), token: async () => token });
  daemon.start();
  await until('the agent has said hello', 60_000, async () => {
    const { entity } = await ada.client(api.instances.view, { id: server });
    return entity.facts !== null;
  });
  const { entity } = await ada.client(api.containers.create, {
    instanceRef: { id: server },
    title: 'Busy',
    slug: `busy-${process.pid}`,
    dockerImage: TEST_IMAGE,
    command: `sh -c '${BUSY}'`,
    cpus: 0.5,
    memoryGb: 0.1,
  });
  await until('a sample of the container', 60_000, async () => {
    const { lastAt } = await ada.client(api.metrics.container, { id: entity.id });
    return lastAt !== null;
  });
  await gpuHistory(server);
  return { server, container: entity.id };
}

/** Half an hour of two GPUs, with a gap. */
async function gpuHistory(server: number): Promise<void> {
  const { db } = app.ctx;
  await makePartitions(db, new Date());
  await sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, gpu_use, gpu_memory,
      gpu_memory_total, gpu_temperature, gpu_power)
    select ${server}, 0, gpu, now() - n * interval '15 seconds', 1, 50 + 45 * sin(n / 9.0 + gpu), 30e9 + n * 1e8, 80e9,
      60 + 8 * sin(n / 20.0), 350 + 90 * sin(n / 9.0)
    from generate_series(2, 120) n, generate_series(0, 1) gpu where n not between 40 and 60`.execute(db);
}
