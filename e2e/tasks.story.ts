import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { aMachine, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { anApiToken, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
/** 36 STAGI: a second costs 0.01. */
const PRICE_MICRO_PER_HOUR = 36_000_000n;
const EPOCHS = 40;

/** Prints an epoch every tenth of a second, and puts out a model and a table of losses. */
const TRAIN = `set -e
cat "$STAGI_INPUT_PATH/numbers.txt"
[ "$1" != badly ] || { echo "the numbers are not sorted"; exit 3; }
mkdir "$STAGI_OUTPUT_PATH/tables"
echo "epoch,loss" > "$STAGI_OUTPUT_PATH/tables/losses.csv"
n=0
while [ $n -lt ${EPOCHS} ]; do
  n=$((n+1))
  echo "epoch $n loss 0.$((100-n))"
  echo "$n,0.$((100-n))" >> "$STAGI_OUTPUT_PATH/tables/losses.csv"
  sleep 0.1
done
echo "trained on $STAGI_COMMIT" > "$STAGI_OUTPUT_PATH/model.txt"
`;

let app: TestApp;
let stop: () => Promise<void>;
let machine: Machine;
/** Where events for analytics go. */
const ingestion = createServer((_request, response) => response.end());
let daemon: TestDaemon;
test.beforeAll(async () => {
  await ensureTestImage();
  machine = aMachine();
  const daemons = join(machine.home, 'daemon');
  mkdirSync(daemons);
  writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  await new Promise<void>((listening) => ingestion.listen(0, '127.0.0.1', listening));
  const analytics = {
    ANALYTICS_URL: `http://127.0.0.1:${(ingestion.address() as AddressInfo).port}/`,
    ANALYTICS_HOSTS: '[{"host":"localhost:{env}","key":"key"},{"host":"127.0.0.1:{env}","key":"key"}]',
  };
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ STAGI_DAEMON_DIR: daemons, ...analytics })));
  // Containers are named for their task: another run on this Docker may have a task 1 of its own.
  const firstId = 1 + (process.pid % 20_000) * 100_000;
  await sql`alter sequence task_id_seq restart with ${sql.raw(String(firstId))}`.execute(app.ctx.db);
});
test.afterAll(async () => {
  await daemon?.cleanUp();
  await stop?.();
  ingestion.close();
  machine?.remove();
});

test('a commit is run as a task: queued, watched, searched, kept, cloned, repeated every night', async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const ada = await app.signUp('Ada Lovelace');
  const { projectId, storageId, commit } = await prepare(ada);
  const holder = await holdTheServer(ada, projectId, storageId);
  // The S3 service answers pages of this origin alone.
  const origin = app.ctx.config.appOrigin;
  const page = await openAs(browser, origin, ada, `/cloud/storages/${storageId}/objects?prefix=numbers%2F`);
  let taskPath = '';

  await test.step('the input is uploaded', async () => {
    await page
      .getByTestId('upload-files')
      .setInputFiles([{ name: 'numbers.txt', mimeType: 'text/plain', buffer: Buffer.from('3 1 2\n') }]);
    await expect(page.getByTestId('upload-queue')).toContainText('One file uploaded');
  });

  await test.step('the form knows the last task, names what is missing, and says what a run costs', async () => {
    await followLink(page, `/projects/${projectId}/tasks`);
    await page.getByTestId('task-create').click();
    await expect(page.getByTestId('task-command')).toHaveValue('sleep 1000');
    await page.getByTestId('task-command').fill('');
    await page.getByTestId('task-input-url').fill('');
    await page.getByTestId('task-submit').click();
    for (const missing of ['Launch command', 'Input URL path'])
      await expect(page.getByTestId('task-form').getByText(`${missing} is required`)).toBeVisible();
    await choose(page, 'task-server', 'Trainer');
    await choose(page, 'task-storage', 'Numbers');
    await page.getByTestId('task-commit-pick').click();
    await page.getByTestId('commit-choice').filter({ hasText: 'Add train.sh' }).click();
    await expect(page.getByTestId('task-commit-found')).toContainText(commit.slice(0, 7));
    await page.getByTestId('task-image').fill(TEST_IMAGE);
    await page.getByTestId('task-command').fill('sh train.sh well');
    await page.getByTestId('task-input-browse').click();
    await page.getByTestId('object-picker-open').filter({ hasText: 'numbers' }).click();
    await page.getByTestId('object-picker-folder').click();
    await expect(page.getByTestId('task-input-url')).toHaveValue('numbers/');
    await page.getByTestId('task-input-path').fill('/data/in');
    await page.getByTestId('task-output-path').fill('/data/out');
    await page.getByTestId('task-cpus').fill('1');
    await expect(page.getByText('36.00 STAGI').first()).toBeVisible();
    await expect(page.getByText('As soon as there is room')).toBeVisible();
    await expectAccessible(page, 'the form of a task');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
  });

  await test.step('it waits in the queue of its server until another one is canceled', async () => {
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('Task started')).toBeVisible();
    await expect(page).toHaveURL(/\/projects\/tasks\/\d+$/);
    taskPath = new URL(page.url()).pathname;
    await expect(page.getByTestId('task-status').first()).toHaveText(/in queue/i);
    await expect(page.getByText('Number 1 in the queue of “Trainer”')).toBeVisible();
    await followLink(page, `/projects/${projectId}/tasks`);
    const row = page.getByTestId('task-row').filter({ hasText: `#${holder.ordinal}` });
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByTestId('action-cancel').click();
    await page.getByTestId('confirm-submit').click();
    await expect(row.getByTestId('task-status')).toContainText(/canceled/i);
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await expectAccessible(page, 'the tasks of a project');
    await page.setViewportSize(DESK);
  });

  await test.step('it prints live, and its lines are found by text, by expression and by time', async () => {
    await followLink(page, taskPath);
    await expect(page.getByTestId('task-status').first()).toHaveText(/running|done/i);
    const visits = visitsOfLogs(page);
    await page.getByTestId('action-logs').click();
    await expect(page).toHaveURL(/\/tasks\/logs\/\d+\/run-1$/);
    const lines = page.getByTestId('log-lines').locator('[data-seq]');
    await expect(lines.first()).toContainText('3 1 2');
    await expect(lines.last()).toContainText(`epoch ${EPOCHS} loss`);
    const box = page.getByRole('searchbox', { name: 'Search lines' });
    await box.fill('epoch 3');
    await expect(lines).toHaveCount(11);
    await page.getByRole('combobox', { name: 'Search mode' }).click();
    await page.getByRole('option', { name: 'Line contains regex match' }).click();
    await box.fill('^EPOCH \\d*7 loss 0\\.[67]');
    await expect(lines).toHaveCount(2);
    await box.fill('');
    await within(page, 'Yesterday');
    await expect(lines).toHaveCount(0);
    await within(page, 'Last hour');
    await expect(lines).toHaveCount(EPOCHS + 1);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('log-download').click()]);
    expect((await readFile(await download.path(), 'utf8')).trimEnd().split('\n')).toHaveLength(EPOCHS + 1);
    expect(visits).toEqual([{ task_ID: Number(taskPath.split('/').at(-1)) }]);
    await expectAccessible(page, 'the log of a task');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
  });

  await test.step('it is done: what it cost, and what it has put out', async () => {
    await followLink(page, taskPath);
    await expect(page.getByTestId('task-status').first()).toHaveText(/done/i);
    await expect(page.getByTestId('task-timeline')).toContainText(/done/i);
    const { entity } = await ada.client(api.tasks.view, { id: Number(taskPath.split('/').at(-1)) });
    expect(Number(entity.cost.STAGI.decimalValue)).toBeGreaterThan(0);
    await expect(page.getByText(/^0\.\d+ STAGI/).first()).toBeVisible();
    await expectAccessible(page, 'a task');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await page.getByRole('link', { name: 'Output', exact: true }).click();
    await page.getByRole('link', { name: 'tables' }).click();
    await page.getByRole('link', { name: 'losses.csv' }).click();
    await expect(page.getByTestId('preview-csv').getByRole('cell').first()).toHaveText('1');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'output', exact: true }).click();
    await page.getByRole('link', { name: 'model.txt' }).click();
    await expect(page.getByTestId('preview-text')).toHaveText(`trained on ${commit}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('object-download').click()]);
    expect(await readFile(await download.path(), 'utf8')).toBe(`trained on ${commit}\n`);
    await expectAccessible(page, 'the output of a task');
    await page.keyboard.press('Escape');
  });

  await test.step('its clone with another command fails and says why; so does the same run again', async () => {
    await followLink(page, taskPath);
    await page.getByTestId('action-clone').click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Clone of task #\d+$/);
    await expect(page.getByTestId('task-input-url')).toHaveValue('numbers/');
    await page.getByTestId('task-command').fill('sh train.sh badly');
    await page.getByTestId('task-submit').click();
    await expect(page).toHaveURL(/\/projects\/tasks\/\d+$/);
    await expect(page.getByTestId('task-status').first()).toHaveText(/failed/i);
    await expect(page.getByText('It ended with exit code 3').first()).toBeVisible();
    await page.getByRole('link', { name: 'See its last lines' }).click();
    await expect(page.getByTestId('log-lines').locator('[data-seq]').last()).toContainText(
      'the numbers are not sorted',
    );
    const cloned = page.url();
    await page.getByRole('link', { name: 'Task', exact: true }).click();
    await page.getByTestId('action-rerun').click();
    await expect(page.getByText(/^Task #\d+ started$/)).toBeVisible();
    expect(page.url()).not.toBe(cloned);
    await expect(page.getByTestId('task-status').first()).toHaveText(/failed/i);
  });

  await test.step('a schedule runs it every night', async () => {
    await followLink(page, `/projects/${projectId}/tasks`);
    await page.getByTestId('schedule-create').click();
    await page.getByTestId('schedule-title').fill('Nightly training');
    await choose(page, 'schedule-every', 'Every day');
    await page.getByTestId('schedule-time').fill('02:00');
    await expect(page.getByTestId('schedule-next').getByRole('listitem')).toHaveCount(3);
    await page.getByTestId('task-commit').fill('main');
    await page.getByTestId('task-command').fill('sh train.sh well');
    await expectAccessible(page, 'the form of a schedule');
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('The schedule is saved')).toBeVisible();
    await expect(page.getByTestId('schedule-row')).toContainText('Nightly training');
    await expect(page.getByTestId('schedule-row')).toContainText('02:00');
  });

  await test.step('without its storage there is no output, and the page that shows it says why', async () => {
    await followLink(page, taskPath);
    await page.getByRole('link', { name: 'Output', exact: true }).click();
    await expect(page.getByRole('link', { name: 'model.txt' })).toBeVisible();
    const { entity } = await ada.client(api.storages.view, { id: storageId });
    await ada.client(api.storages.delete, { id: storageId, slugTyped: entity.slug });
    await expect(page.getByText("Couldn't get output")).toBeVisible();
    await expect(page.getByText('The storage of this task was deleted')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    await expectAccessible(page, 'an output that cannot be had');
  });
  await page.context().close();
});

/** A project with one commit, an empty storage, and a rented server whose daemon runs on this machine's Docker. */
async function prepare(ada: Person): Promise<{ projectId: number; storageId: number; commit: string }> {
  const { db, secrets } = app.ctx;
  const serverId = await aRentedInstance(app.ctx, ada);
  await db
    .updateTable('instance')
    .set({ title: 'Trainer', price_per_hour: PRICE_MICRO_PER_HOUR })
    .where('id', '=', serverId)
    .execute();
  const signing = { keys: await loadSigningKeys(db, secrets), daemonOrigin: app.url };
  const { token } = await issueEnrolment(signing, db, serverId, 'rented');
  daemon = await createDaemon({ node: String(serverId), token: async () => token });
  daemon.start();
  const { entity: project } = await ada.client(api.projects.create, { title: 'Winter', slug: 'winter' });
  const { entity: storage } = await ada.client(api.storages.create, {
    title: 'Numbers',
    slug: `numbers-${process.pid}`,
    sizeGb: 1,
    location: 'local',
  });
  const { token: apiToken } = await anApiToken(app.ctx, ada);
  const folder = await machine.repository('winter', project.gitHttps.replace('://', `://git:${apiToken}@`));
  const commit = await machine.commit(folder, 'train.sh', TRAIN);
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
  await ada.client(api.projects.attachInstance, { projectRef: { id: project.id }, instanceRef: { id: serverId } });
  await until('the server has told its size', 60_000, () =>
    db
      .selectFrom('daemon_node')
      .select('instance_id')
      .where('instance_id', '=', serverId)
      .where('facts', 'is not', null)
      .executeTakeFirst(),
  );
  await until('the storage is rented', 60_000, async () => {
    const { entity } = await ada.client(api.storages.view, { id: storage.id });
    return entity.status === 'rented';
  });
  return { projectId: project.id, storageId: storage.id, commit };
}

/** A task that takes all CPUs of the server until it is canceled. */
async function holdTheServer(ada: Person, projectId: number, storageId: number): Promise<{ ordinal: number }> {
  const { link } = await ada.client(api.storages.uploadLink, { id: storageId, key: 'numbers/held.txt' });
  await fetch(link, { method: 'PUT', body: 'held' });
  const server = await until('the server takes tasks', 60_000, async () => {
    const { instances } = await ada.client(api.tasks.form, { projectRef: { id: projectId } });
    return instances.find(({ cpus, refusal }) => cpus !== null && refusal === null);
  });
  const { entity } = await ada.client(api.tasks.create, {
    projectRef: { id: projectId },
    instanceRef: { id: server.id },
    storageRef: { id: storageId },
    inputUrlPath: 'numbers/held.txt',
    inputPath: '/in',
    outputPath: '/out',
    command: 'sleep 1000',
    commit: 'main',
    image: TEST_IMAGE,
    cpus: server.cpus!,
    gpuCount: 0,
    title: 'Holder',
  });
  await until('it holds the server', 60_000, async () => {
    const { entity: task } = await ada.client(api.tasks.view, { id: entity.id });
    return task.status === 'running';
  });
  return entity;
}

/** What analytics are told of visits of logs, as it is sent. */
function visitsOfLogs(page: Page): unknown[] {
  const visits: unknown[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith(`/${api.analytics.event.path}`)) return;
    const { name, properties } = request.postDataJSON() as { name?: string; properties?: unknown };
    if (name === 'task_logs_page_visited') visits.push(properties);
  });
  return visits;
}

async function choose(page: Page, testId: string, name: string): Promise<void> {
  await page.getByTestId(testId).click();
  await page.getByRole('option', { name }).first().click();
}

async function within(page: Page, range: string): Promise<void> {
  await page.getByTestId('date-range').click();
  await page.getByRole('option', { name: range, exact: true }).click();
  await page.getByTestId('date-range-apply').click();
}
