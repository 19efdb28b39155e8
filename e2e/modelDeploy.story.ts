import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureEngineImage } from '@stagi/daemon/src/testing/engine/engineImage.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aSelfHostedServer } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
/** The engine's own model of random weights, as an operator would add it to the catalogue. */
const TINY = 'stagi-test/tiny-random-llama';
const NAME = 'tiny-random-llama';

let app: TestApp;
let stop: () => Promise<void>;
let image: string;
let daemon: TestDaemon | undefined;
const ingestion = createServer((_request, response) => response.end());

test.beforeAll(async () => {
  image = await ensureEngineImage();
  await new Promise<void>((listening) => ingestion.listen(0, '127.0.0.1', listening));
  const analytics = {
    ANALYTICS_URL: `http://127.0.0.1:${(ingestion.address() as AddressInfo).port}/`,
    ANALYTICS_HOSTS: '[{"host":"localhost:{env}","key":"key"},{"host":"127.0.0.1:{env}","key":"key"}]',
  };
  ({ app, stop } = await withOwnDatabase(() => startTestApp(analytics)));
  await app.ctx.db
    .insertInto('catalogue_change')
    .values({
      model_id: TINY,
      kind: 'added',
      fields: JSON.stringify({
        id: TINY,
        name: 'Tiny random Llama',
        publisher: 'Stagi tests',
        task: 'text-generation',
        parameters: { total: 1_000_000 },
        layers: 2,
        hiddenSize: 64,
        heads: 4,
        kvHeads: 4,
        headDim: 16,
        intermediateSize: 128,
        vocabSize: 512,
        contextLength: 4096,
        precisions: [{ precision: 'gguf', repository: 'stagi-test/tiny-random-llama-GGUF', variants: ['Q8_0'] }],
        links: [TINY],
        source: [{ computed: 'seeded random weights, made for this test' }],
      }),
      source: JSON.stringify([{ computed: 'seeded random weights, made for this test' }]),
    })
    .execute();
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
  ingestion.close();
});

test('a model is deployed from its page, followed while it loads, and chatted with', async ({ browser }) => {
  test.setTimeout(180_000);
  const hostPort = await freeHostPort();
  const ada = await app.signUp('Ada Lovelace');
  await joinServer(ada);
  const page = await openAs(browser, app.ctx.config.appOrigin, ada, `/models/${NAME}`);
  const events = eventsOf(page);

  await test.step('the form names what is missing, and knows which servers the model fits', async () => {
    await page.getByTestId('deploy-model').click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Deploy Tiny random Llama');
    await expectAccessible(page, 'the deploy form');
    await page.getByTestId('deploy-submit').click();
    await expect(page.getByText('Server is required')).toBeVisible();
    await page.getByTestId('deploy-server').click();
    await page.getByRole('option', { name: /My machine/ }).click();
    await expect(page.getByText('Their speed is not predicted')).toBeVisible();
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize(DESK);
  });

  await test.step('it is deployed with the image that was built here', async () => {
    await page.getByRole('button', { name: 'Container', exact: true }).click();
    await page.getByTestId('deploy-image').fill(image);
    await page.getByLabel('Port on the server').fill(String(hostPort));
    await page.getByLabel('CPUs').fill('1');
    await page.getByTestId('deploy-submit').click();
    await expect(page.getByRole('heading', { name: 'Deployed in this workspace' })).toBeVisible();
    await expect(page.getByTestId('run-model')).toBeEnabled({ timeout: 60_000 });
    await expect(page.locator('[data-status="ready"]')).toBeVisible();
  });

  await test.step('it answers token by token, and each answer is measured', async () => {
    await page.getByTestId('run-model').click();
    await page.getByTestId('chat-send').click();
    await expect(page.getByText('Message is required')).toBeVisible();
    await page.getByTestId('chat-message').fill('Say something');
    await page.keyboard.press('Enter');
    const answer = page.locator('[data-role="assistant"]').last();
    await expect(answer).toHaveAttribute('data-state', 'whole', { timeout: 60_000 });
    await expect(page.getByTestId('measured-ttft')).toHaveText(/^\d[\d,]* ms$/);
    expect(Number((await page.getByTestId('measured-rate').textContent())?.replaceAll(',', ''))).toBeGreaterThan(1);
    await expect(page.getByTestId('measured-speed')).toContainText('What runs on CPUs has no prediction.');
    await expectAccessible(page, 'the chat');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize(DESK);
  });

  await test.step('the key of its API is the one that the engine asks for', async () => {
    const ask = (key: string) =>
      fetch(`http://127.0.0.1:${hostPort}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 }),
      });
    await page.getByTestId('reveal-key').click();
    const key = (await page.getByText(/^sk-[\w-]{32}$/).textContent()) ?? '';
    expect([(await ask(key)).status, (await ask('wrong')).status]).toEqual([200, 401]);
  });

  await test.step('snippets have the address of the deployed model', async () => {
    const snippets = page.getByTestId('model-snippets');
    await expect(snippets).toContainText(`curl http://${NAME}-${hostPort}.apps.`);
    await expect(snippets).toContainText('X-Stagi-Token: $STAGI_TOKEN');
  });

  await test.step('a stopped container cannot be asked, a deleted one is gone', async () => {
    const { entities } = await ada.client(api.modelEndpoints.list, { modelRef: { name: NAME } });
    await ada.client(api.containers.stop, { id: entities[0]!.container!.id });
    await expect(page.locator('[data-status="stopped"]')).toBeVisible({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Close the chat' }).click();
    await expect(page.getByTestId('run-model')).toBeDisabled();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page.getByText('Not yet. Deploy it to a server that it fits')).toBeVisible();
  });

  expect(events).toEqual(expect.arrayContaining(['deploy_button_models', 'run_model_clicked_models']));
});

test('a visitor who wants to deploy signs up and comes back to the form', async ({ page }) => {
  await page.goto(`${app.url}/models/${NAME}?quality=XL`);
  const deploy = page.getByTestId('deploy-model');
  await expect(deploy).toHaveAttribute(
    'href',
    `/sign-up?returnUrl=${encodeURIComponent(`/models/${NAME}?quality=XL&deploy=1`)}`,
  );
  await deploy.click();
  await expect(page).toHaveURL(/\/sign-up\?returnUrl=/);
});

/** An own server with a real daemon on this machine. */
async function joinServer(ada: Person): Promise<void> {
  const { db, secrets } = app.ctx;
  const id = await aSelfHostedServer(app.ctx, ada);
  await db.updateTable('instance').set({ title: 'My machine' }).where('id', '=', id).execute();
  const signing = { keys: await loadSigningKeys(db, secrets), daemonOrigin: app.url };
  const { token } = await issueEnrolment(signing, db, id, 'self-hosted');
  daemon = await createDaemon({ node: String(id), token: async () => token });
  daemon.start();
  await until('the server has told its size', 60_000, () =>
    db
      .selectFrom('daemon_node')
      .select('instance_id')
      .where('instance_id', '=', id)
      .where('facts', 'is not', null)
      .executeTakeFirst(),
  );
}

/** The names of the events that the page sends. */
function eventsOf(page: Page): string[] {
  const names: string[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith(`/${api.analytics.event.path}`)) return;
    const { name } = request.postDataJSON() as { name?: string };
    if (name) names.push(name);
  });
  return names;
}
