import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { TASKS_FEATURE } from '@stagi/contract/daemon.ts';
import { aMachine, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { aTaskPlace } from '@stagi/server/src/tasks/testing/taskPlace.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { type LocalRepository, localRepository } from './codeRepository.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { followLink } from './navigation.ts';
import { openAs } from './people.ts';
import { until } from './waitUntil.ts';

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };
const CREATE = '/projects/tasks/create';

let app: TestApp;
let stop: () => Promise<void>;
let machine: Machine;
let repository: LocalRepository;
let server: { close(): Promise<void> } | null = null;
test.beforeAll(async () => {
  machine = aMachine();
  const daemons = join(machine.home, 'daemon');
  mkdirSync(daemons);
  writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ STAGI_DAEMON_DIR: daemons })));
});
test.afterAll(async () => {
  await server?.close();
  await stop?.();
  repository?.remove();
  machine?.remove();
});

test('a task is filled in, started and cloned', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const page = await openAs(browser, app.url, ada, CREATE);
  await page.setViewportSize(DESK);

  await test.step('without a project the form leads to one', async () => {
    await expect(page.getByText('A task needs a project')).toBeVisible();
    await expectAccessible(page, 'the form of a task without a project');
  });

  const { entity: project } = await ada.client(api.projects.create, { title: 'Trainer', slug: 'trainer' });
  await test.step('an empty project says what it lacks', async () => {
    await page.reload();
    await expect(page.getByText('This repository is empty')).toBeVisible();
    await expect(page.getByText('No server is attached to this project')).toBeVisible();
    await expect(page.getByText('This workspace has no storage')).toBeVisible();
    await expectAccessible(page, 'the form of a task of an empty project');
  });

  server = await aServer(ada, project.id);
  await aStorage(ada);
  repository = localRepository();
  await pushHistory(repository, ada, project.gitHttps);

  await test.step('everything that is required is named at its field', async () => {
    await page.reload();
    await expect(page.getByTestId('task-server')).toContainText('Lab 3');
    await expect(page.getByTestId('task-commit-found')).toContainText('Train longer');
    await page.getByTestId('task-input-path').fill('');
    await page.getByTestId('task-output-path').fill('');
    await page.getByTestId('task-server').press('Delete');
    await page.getByTestId('task-storage').press('Delete');
    await page.getByTestId('task-submit').click();
    for (const message of [
      'Launch command is required',
      'Image is required',
      'Server is required',
      'Storage is required',
      'Input URL path is required',
      'Input path is required',
      'Output path is required',
    ])
      await expect(page.getByText(message, { exact: true })).toBeVisible();
    await expectAccessible(page, 'the form of a task with messages');
  });

  await test.step('a commit is picked from the history of a branch', async () => {
    await page.getByTestId('task-commit-pick').click();
    const picker = page.getByTestId('commit-picker');
    await expect(picker.getByTestId('commit-choice')).toHaveCount(2);
    await expectAccessible(page, 'the history to choose a commit from');
    await choose(page, 'commit-ref', 'tuning');
    await expect(picker.getByTestId('commit-choice')).toHaveCount(3);
    await picker.getByRole('searchbox').fill('grace');
    await expect(picker.getByTestId('commit-choice')).toHaveCount(1);
    await picker.getByTestId('commit-choice').click();
    await expect(picker).toBeHidden();
    await expect(page.getByTestId('task-commit')).toHaveValue(repository.git('rev-parse', 'tuning'));
    await expect(page.getByTestId('task-commit-found')).toContainText('Grace Hopper');
    await page.getByTestId('task-commit').fill('no-such-branch');
    await expect(page.getByText('This commit does not exist')).toBeVisible();
    await page.getByTestId('task-commit').fill('main');
    await expect(page.getByTestId('task-commit-found')).toContainText('Train longer');
  });

  await test.step('a folder of the storage is picked', async () => {
    await choose(page, 'task-server', 'Lab 3');
    await choose(page, 'task-storage', 'Data');
    await page.getByTestId('task-input-browse').click();
    const picker = page.getByTestId('object-picker');
    await picker.getByTestId('object-picker-open').click();
    await expect(picker.getByTestId('object-picker-object')).toHaveText(/part-1\.csv/);
    await expectAccessible(page, 'the objects to choose the input from');
    await picker.getByTestId('object-picker-folder').click();
    await expect(page.getByTestId('task-input-url')).toHaveValue('datasets/');
  });

  await test.step('it says before what it costs, what it waits for and how many runs are left', async () => {
    const form = page.getByTestId('task-form');
    await expect(form).toContainText('Own server: no charge');
    await expect(form).toContainText('At once: there is room');
    await expect(form).toContainText('50 of 50 (day of UTC)');
    await page.getByTestId('task-cpus').fill('99');
    await fill(page, {
      image: 'python:3.13',
      command: 'python train.py',
      'input-path': '/data',
      'output-path': '/out',
    });
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('CPUs: at most 4 on this server')).toBeVisible();
    await page.getByTestId('task-cpus').fill('1');
  });

  await test.step('what the server refuses stands at its field, also where it is folded, and nothing is lost', async () => {
    await page.getByTestId('task-input-url').fill('nowhere/');
    await page.getByTestId('add-env').click();
    await page.getByLabel('Name of the variable').fill('TOKEN');
    await page.getByLabel('Value of the variable').fill('secret');
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('Nothing is stored at this path')).toBeVisible();
    await page.getByTestId('task-input-url').fill('datasets/');
    await page.getByTestId('task-more').click();
    await page.getByTestId('task-code-path').fill('/');
    await page.getByTestId('task-more').click();
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('The root directory cannot be used for cloning')).toBeVisible();
    // Typing takes the message away, and neither folds the field nor moves the focus.
    await expect(page.getByTestId('task-code-path')).toBeFocused();
    await page.getByTestId('task-code-path').press('End');
    await page.keyboard.type('code');
    await expect(page.getByTestId('task-code-path')).toHaveValue('/code');
    await expect(page.getByTestId('task-code-path')).toBeFocused();
    await expect(page.getByLabel('Value of the variable')).toHaveValue('secret');
  });

  await test.step('it starts, and leads to its page', async () => {
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('Task started')).toBeVisible();
    await expect(page).toHaveURL(/\/projects\/tasks\/\d+$/);
    const [task] = await tasksOf(ada);
    expect(task).toMatchObject({ command: 'python train.py', inputUrlPath: 'datasets/', codePath: '/code', cpus: 1 });
    expect(task?.commit).toMatchObject({ ref: 'main', sha: repository.git('rev-parse', 'main') });
    expect(task?.envNames).toEqual(['TOKEN']);
  });

  await test.step('the form remembers the values of the last task', async () => {
    await followLink(page, CREATE);
    await expect(page.getByTestId('task-command')).toHaveValue('python train.py');
    await expect(page.getByTestId('task-commit')).toHaveValue('main');
    await expect(page.getByLabel('Value of the variable')).toHaveAttribute('placeholder', 'unchanged');
    await expect(page.getByTestId('task-more')).toContainText('/code');
  });

  await test.step('a clone has its values, and keeps the values of variables', async () => {
    const [task] = await tasksOf(ada);
    await followLink(page, `${CREATE}?clone=${task?.id}`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Clone of task #1');
    await expect(page.getByTestId('task-commit')).toHaveValue(task?.commit.sha ?? '');
    await page.getByTestId('task-command').fill('python test.py');
    await page.getByTestId('task-submit').click();
    await expect(page).toHaveURL(/\/projects\/tasks\/\d+$/);
    await until('the clone is there', 10_000, async () => (await tasksOf(ada)).length === 2);
    const [clone] = await tasksOf(ada);
    expect(clone).toMatchObject({ ordinal: 2, command: 'python test.py', envNames: ['TOKEN'] });
  });

  await test.step('the form keeps what is filled in when another project cannot be read', async () => {
    const { entity: other } = await ada.client(api.projects.create, { title: 'Other', slug: 'other' });
    await followLink(page, CREATE);
    await page.getByTestId('task-command').fill('python keep.py');
    const ofOther = `"projectRef":{"id":${other.id}}`;
    await page.route('**/frontend-api/task/form', (route) =>
      route.request().postData()?.includes(ofOther) ? route.fulfill({ status: 404, body: '{}' }) : route.fallback(),
    );
    await choose(page, 'task-project', 'Other');
    await expect(page.getByRole('alert')).toContainText('This could not be loaded');
    await expect(page).toHaveURL(new RegExp(`${CREATE}$`));
    await expect(page.getByTestId('task-command')).toHaveValue('python keep.py');
    await expect(page.getByText('No server is attached to this project')).toBeHidden();
    await expectAccessible(page, 'the form of a task whose project cannot be read');
    await page.unroute('**/frontend-api/task/form');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText('No server is attached to this project')).toBeVisible();
    await expect(page.getByTestId('task-command')).toHaveValue('python keep.py');
  });

  await page.context().close();
});

test('a task is put on a schedule that is paused, changed and deleted', async ({ browser }) => {
  const ada = await app.signUp('Ada Lovelace');
  const { project, create } = await aTaskPlace(app, ada);
  await create(ada, { env: [{ name: 'TOKEN', value: 'secret' }] });
  const page = await openAs(browser, app.url, ada, `${CREATE}?project=${project.id}&schedule=new`);
  await page.setViewportSize(DESK);

  await test.step('a schedule says its next times, in its zone', async () => {
    await expect(page.getByTestId('schedule-next').getByRole('listitem')).toHaveCount(3);
    await page.getByTestId('schedule-title').fill('Nightly evaluation');
    const zone = await page.getByTestId('schedule-zone').textContent();
    await page.getByTestId('schedule-zone').press('Delete');
    await expect(page.getByTestId('schedule-zone')).toHaveText(zone ?? '');
    await expect(page.getByTestId('schedule-next').getByRole('listitem')).toHaveCount(3);
    await expect(page.getByTestId('schedule-title')).toHaveValue('Nightly evaluation');
    await page.getByTestId('schedule-time').fill('25:00');
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('Enter a time like 02:30')).toBeVisible();
    await page.getByTestId('schedule-time').fill('02:30');
    // It has no summer time: 02:30 comes every night.
    await choose(page, 'schedule-zone', 'Asia/Tokyo', 'Tokyo');
    await expect(page.getByTestId('schedule-next').getByRole('listitem').first()).toContainText('02:30');
    await expectAccessible(page, 'the form of a schedule');
    await page.getByTestId('task-submit').click();
    await expect(page.getByText('The schedule is saved')).toBeVisible();
    const row = page.getByTestId('schedule-row');
    await expect(row).toContainText('Nightly evaluation');
    await expect(row).toContainText('Every day at 02:30');
    await expect(row).toContainText('Asia/Tokyo');
    await expect(row).toContainText(/\d 02:30/);
    await expect(row).toContainText('Not yet');
    await expectAccessible(page, 'the schedules of a project');
  });

  await test.step('it is paused, goes on, is changed and deleted', async () => {
    const row = page.getByTestId('schedule-row');
    await act(page, 'pause');
    await expect(row).toContainText('Paused');
    await act(page, 'resume');
    await expect(row).not.toContainText('Paused');
    await act(page, 'edit');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Edit the schedule');
    await expect(page.getByTestId('schedule-time')).toHaveValue('02:30');
    await choose(page, 'schedule-every', 'Cron expression');
    await page.getByTestId('schedule-cron').fill('* * *');
    await expect(page.getByText('3 instead of five fields')).toBeVisible();
    await page.getByTestId('schedule-cron').fill('60 * * * *');
    await expect(page.getByText('Minute: 60 is not between 0 and 59')).toBeVisible();
    await page.getByTestId('schedule-cron').fill('*/15 9-17 * * 1-5');
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await page.getByTestId('task-submit').click();
    await expect(row).toContainText('*/15 9-17 * * 1-5');
    const { entities } = await ada.client(api.tasks.schedules, {});
    expect(entities[0]?.task.envNames).toEqual(['TOKEN']);
    await page.setViewportSize(PHONE);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
    await act(page, 'delete');
    await page.getByTestId('confirm-submit').click();
    await expect(page.getByText('No schedules yet')).toBeVisible();
  });

  await page.context().close();
});

async function tasksOf({ client }: Person) {
  const request = { orderByField: 'createdAt', orderByDirection: 'desc' as const };
  return (await client(api.tasks.list, { entityFilterRequest: request })).entities;
}

/** A server of one's own that is attached to a project, online for as long as its daemon is not closed. */
async function aServer({ client }: Person, projectId: number): Promise<{ close(): Promise<void> }> {
  const { entity, daemonToken } = await client(api.selfHosted.create, { title: 'Lab 3', slug: 'lab-3' });
  const daemon = await connectLiveDaemon(app.url, await enrolNode(app.url, daemonToken), { features: [TASKS_FEATURE] });
  await client(api.projects.attachInstance, { projectRef: { id: projectId }, instanceRef: { id: entity.id } });
  return daemon;
}

/** With `datasets/part-1.csv` in it. */
async function aStorage({ client }: Person): Promise<void> {
  const { entity } = await client(api.storages.create, { title: 'Data', slug: 'data-1', sizeGb: 1, location: 'local' });
  const isRented = async () => (await client(api.storages.view, { id: entity.id })).entity.status === 'rented';
  await until('the storage is rented', 30_000, isRented);
  const { link } = await client(api.storages.uploadLink, { id: entity.id, key: 'datasets/part-1.csv' });
  const { status } = await fetch(link, { method: 'PUT', body: 'city,people\n' });
  expect(status).toBe(200);
}

/** Two commits on `main`, and a third one, by Grace, on `tuning`. */
async function pushHistory(repository: LocalRepository, ada: Person, address: string): Promise<void> {
  const { token } = await anApiToken(app.ctx, ada);
  const to = new URL(address);
  to.username = 'git';
  to.password = token;
  repository.write('train.py', 'print(1)\n');
  repository.commit('Add the training');
  repository.write('train.py', 'print(2)\n');
  repository.commit('Train longer');
  repository.git('checkout', '--quiet', '-b', 'tuning');
  repository.write('train.py', 'print(3)\n');
  repository.commit('Tune the rate', 'Grace Hopper <grace@example.com>');
  // Not waited for synchronously: the platform answers in this process.
  await machine.ok(['push', '--quiet', to.href, 'main', 'tuning'], { cwd: repository.dir });
}

/** One of a select, after `search` was typed where it has many. */
async function choose(page: Page, testId: string, label: string, search?: string): Promise<void> {
  await page.getByTestId(testId).click();
  const list = page.getByTestId(`${testId}-list`);
  if (search) await list.getByRole('combobox').fill(search);
  await list.getByRole('option', { name: label }).first().click();
}

async function fill(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.getByTestId(`task-${name}`).fill(value);
}

async function act(page: Page, name: string): Promise<void> {
  await page
    .getByTestId('schedule-row')
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByTestId(`action-${name}`).click();
}
