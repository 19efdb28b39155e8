import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { mailedCode, type Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { addScripts, fillRepository, type LocalRepository, localRepository } from './codeRepository.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { walkTo } from './navigation.ts';
import { enterAsNewPerson } from './people.ts';
import type { Platform } from './platform.ts';

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

test.use({ viewport: DESK });

let repository: LocalRepository;
test.beforeAll(() => {
  repository = localRepository();
});
test.afterAll(() => repository.remove());

test('code is read in the browser: files, history, differences, search', async ({ page, platform }) => {
  test.setTimeout(240_000);
  const { first, fix } = fillRepository(repository);
  const ada = await enterAsNewPerson(page, platform);
  const project = await newProject(ada);
  const token = await tokenOf(ada, platform);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const base = `/projects/${project.id}`;
  const open = (path: string) => walkTo(page, base + path);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  await test.step('an empty project shows the lines to paste; a push shows at once', async () => {
    await open('');
    await expect(page).toHaveURL(new RegExp(`${base}/code/tree$`));
    await expect(page.getByTestId('project-empty')).toBeVisible();
    push(project, token, 'main', '--tags', 'feature/one');
    await expect(page.getByTestId('tree-entry')).toHaveCount(8);
  });

  await test.step('the tree shows each entry with its last commit, and the README', async () => {
    const row = page.getByTestId('tree-entry').filter({ hasText: 'src' });
    await expect(row).toContainText('Correct the factor');
    await expect(page.getByTestId('latest-commit').getByTestId('commit-hash')).toHaveText(fix.slice(0, 7));
    await page.getByTestId('latest-commit').getByRole('button', { name: 'Copy the whole hash' }).click();
    await expect.poll(clipboard).toBe(fix);
    const readme = page.getByTestId('readme');
    await expect(readme.getByRole('heading', { name: 'Doubler' })).toBeVisible();
    await expect(readme.getByRole('cell', { name: '2' })).toBeVisible();
    await expect.poll(() => widthOf(page, 'dot')).toBe(1);
    await expect(readme.getByText('badge')).toHaveAttribute('title', /not loaded/);
    await expect(readme.locator('[data-kind]').first()).toBeVisible();
    await expectAccessible(page, 'the tree');
    await readme.getByRole('link', { name: 'the guide' }).click();
    await expect(page).toHaveURL(/\/blob\/main\/docs%2Fguide\.md\/[0-9a-f]{40}$/);
    await expect(page.getByTestId('markdown')).toContainText('Back to the README');
  });

  await test.step('a file has colours, numbers and links to its lines', async () => {
    await open('/code/tree/main/src%2Fmodel.py#L4-L6');
    await expect(page).toHaveURL(/\/blob\/main\/src%2Fmodel\.py\/[0-9a-f]{40}#L4-L6$/);
    const lines = page.getByTestId('code-line');
    await expect(lines).toHaveCount(13);
    await expect(marked(page)).toHaveText([/The whole secret/, /y = 1/, /return x \* 3/]);
    await expect(lines.nth(2).locator('[data-kind="6"]')).toHaveText('double');
    await page.locator('[data-line="9"]').click();
    await page.locator('[data-line="10"]').click({ modifiers: ['Shift'] });
    await expect(page).toHaveURL(/#L9-L10$/);
    await page.getByTestId('line-box').fill('3');
    await page.keyboard.press('Enter');
    await expect(marked(page)).toHaveText([/def double/]);
    await page.getByRole('button', { name: 'Copy a link to this version' }).click();
    await expect.poll(clipboard).toMatch(new RegExp(`/blob/main/${fix}/src%2Fmodel\\.py/[0-9a-f]{40}#L3$`));
    await page.getByRole('button', { name: 'Copy the file' }).click();
    await expect.poll(clipboard).toContain('return x * 3');
    const raw = await page.context().newPage();
    const answer = await raw.goto((await page.getByTestId('blob-raw').getAttribute('href')) ?? '');
    expect(answer?.headers()['content-security-policy']).toContain('sandbox');
    expect(await answer?.text()).toContain('return x * 3');
    await raw.close();
    await expectAccessible(page, 'a file');
  });

  await test.step('a long file opens at its line; the browser finds what is far away', async () => {
    await open('/code/tree/main/src%2Flong.py#L700');
    await expect(marked(page)).toHaveText([/value_700 = 700/]);
    await expect(marked(page)).toBeInViewport();
    await expect(page.getByTestId('code')).toContainText('value_20 = 20');
  });

  await test.step('blame names the commit of each line', async () => {
    await open('/code/tree/main/src%2Fmodel.py');
    await page.getByTestId('view-blame').click();
    await expect(page.getByTestId('blame-range')).toHaveCount(3);
    await expect(page.getByTestId('blame-range').nth(1)).toContainText('Correct the factor');
    await expectAccessible(page, 'blame');
  });

  await test.step('what is no text is said to be what it is', async () => {
    await open('/code/tree/main/notes.ipynb');
    const notebook = page.getByTestId('notebook');
    await expect(notebook.getByRole('heading', { name: 'Results' })).toBeVisible();
    await expect(notebook).toContainText('42');
    await expect(notebook).toContainText('<table><tr><td>cell of a table');
    await expect.poll(() => widthOf(page, 'Picture that the cell made')).toBe(1);
    for (const [path, words] of [
      ['weights.bin', 'This is a binary file'],
      ['data/large.csv', 'too large to be shown'],
      ['data/model.safetensors', 'kept by Git LFS'],
      ['model-link', 'This is a symbolic link'],
      ['vendor/other', 'This is a submodule'],
    ] as const) {
      await open(`/code/tree/main/${encodeURIComponent(path)}`);
      await expect(page.getByTestId('blob-instead')).toContainText(words);
    }
    await open('/code/tree/main/docs%2Fdot.png');
    await expect.poll(() => widthOf(page, 'Picture dot.png')).toBe(1);
  });

  await test.step('a commit shows its changes unified, split and without white space', async () => {
    await open(`/commit/main/${fix}`);
    const added = page.getByTestId('diff-added');
    await expect(page.getByTestId('commit-totals')).toHaveText('1 file changed+2−2');
    await expect(added).toHaveCount(2);
    await page.getByTestId('view-split').click();
    await expect(page.locator('[data-testid="diff-table"][data-split]')).toBeVisible();
    await expect(page).toHaveURL(/diff=split/);
    await expectAccessible(page, 'a commit');
    await page.getByTestId('hide-whitespace').click();
    await expect(added).toHaveCount(1);
    await open(`/commit/main/${first}`);
    await expect(page.getByTestId('code-commit')).toContainText('With a README and a notebook.');
    await expect(page.getByTestId('diff-file')).toHaveCount(6);
    await open('/commits/main');
    await page.getByRole('link', { name: 'Add data and weights' }).click();
    const large = page.getByTestId('diff-file').filter({ hasText: 'data/large.csv' });
    await large.getByRole('button', { name: 'Open data/large.csv' }).click();
    await expect(large.getByTestId('diff-cut')).toBeVisible();
  });

  await test.step('history is of a branch, or of one path', async () => {
    await open('/commits/main');
    await expect(page.getByTestId('commit-row')).toHaveCount(3);
    await open('/code/tree/main/README.md');
    await page.getByTestId('history-link').click();
    await expect(page.getByTestId('commit-row')).toHaveCount(1);
    await expectAccessible(page, 'history');
    await page.getByRole('button', { name: 'Show the whole history' }).click();
    await expect(page.getByTestId('commit-row')).toHaveCount(3);
  });

  await test.step('branches and tags are chosen with search', async () => {
    await open('/code/tree');
    await page.getByTestId('ref-picker').click();
    const refs = page.getByTestId('ref-list');
    await refs.getByPlaceholder('Find a branch').fill('one');
    await expect(refs.getByTestId('ref-row')).toHaveCount(1);
    await refs.getByTestId('ref-row').click();
    await expect(page).toHaveURL(/\/code\/tree\/feature%2Fone$/);
    await page.getByTestId('ref-picker').click();
    await refs.getByTestId('refs-tag').click();
    await expect(refs.getByTestId('ref-row')).toHaveText([/v1\.0/]);
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('ref-picker')).toBeFocused();
  });

  await test.step('search finds lines and names', async () => {
    await open('/code/tree');
    await page.getByRole('searchbox').fill('double');
    await expect(page.getByTestId('search-file')).toHaveCount(3);
    await page.getByTestId('search-line').filter({ hasText: 'def double' }).click();
    await expect(marked(page)).toHaveText([/def double/]);
    await open('/code/tree?search=train.sh');
    await expect(page.getByTestId('search-path')).toHaveText(['src/train.sh']);
    await expectAccessible(page, 'search');
  });

  await test.step('a push shows on open pages; what is pinned stays', async () => {
    await open('/code/tree/main/src%2Ftrain.sh');
    await expect(page.getByTestId('code')).toContainText('set -e');
    repository.write('src/train.sh', '#!/bin/sh\nexec python -m src.model\n');
    repository.git('add', 'src');
    repository.commit('Shorten the script');
    push(project, token, 'main');
    await expect(page.getByTestId('code')).toContainText('exec python');
    await expect(page.getByText('This file has changed since its address was made')).toBeVisible();
    await open(`/code/tree/main/${fix}/src%2Ftrain.sh`);
    await expect(page.getByTestId('code')).toContainText('set -e');
  });

  await test.step('everything fits a phone', async () => {
    await page.setViewportSize(PHONE);
    for (const path of ['/code/tree', '/code/tree/main/src%2Fmodel.py', `/commit/main/${fix}`, '/commits/main']) {
      await open(path);
      expect(await sideways(page), path).toBe(0);
      await expectAccessible(page, `${path} on a phone`);
    }
    await page.setViewportSize(DESK);
  });
});

test('scripts in names, texts, notebooks, messages and branches do not run', async ({ page, platform }) => {
  test.setTimeout(120_000);
  const payloads = addScripts(repository);
  const ada = await enterAsNewPerson(page, platform);
  const project = await newProject(ada);
  const token = await tokenOf(ada, platform);
  push(project, token, '--all');
  push(project, token, '--tags');
  const ran: string[] = [];
  page.on('dialog', (dialog) => {
    ran.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const outside: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).hostname.endsWith('.invalid')) outside.push(request.url());
  });
  await page.evaluate(() => {
    const seen = window as unknown as { violations: string[] };
    seen.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => seen.violations.push(event.blockedURI));
  });
  const base = `/projects/${project.id}`;
  let pages = 0;
  const look = async (path: string, awaited: string) => {
    await walkTo(page, base + path);
    await expect(page.getByTestId(awaited).first(), path).toBeVisible();
    pages += 1;
  };
  const names = repository.git('ls-tree', '-z', '--name-only', 'HEAD', 'hostile/names/').split('\0').filter(Boolean);
  for (const path of names) await look(`/code/tree/main/${encodeURIComponent(path)}`, 'code-blob');
  await look('/code/tree/main/hostile', 'markdown');
  await look('/code/tree/main/hostile%2Fnames', 'tree-entry');
  for (const [file, awaited] of [
    ['README.md', 'markdown'],
    ['README.md?view=blame', 'blame-range'],
    ['page.html', 'code'],
    ['code.js', 'code'],
    ['drawing.svg', 'code-blob'],
    ['drawing.svg?view=source', 'code'],
    ['notes.ipynb', 'notebook'],
  ] as const) {
    const [name = '', query] = file.split('?');
    const blob = repository.git('rev-parse', `HEAD:hostile/${name}`);
    await look(`/blob/main/${encodeURIComponent(`hostile/${name}`)}/${blob}${query ? `?${query}` : ''}`, awaited);
  }
  for (const ref of ['HEAD', 'HEAD~1']) {
    const path = `/commit/main/${repository.git('rev-parse', ref)}`;
    await look(path, 'diff-table');
    await look(`${path}?diff=split`, 'diff-table');
  }
  // The second one changes many files: those that are still closed.
  await page.getByTestId('toggle-all').click();
  await look('/commits/main', 'commit-row');
  await look('/code/tree?search=RAN', 'search-line');
  await look('/code/tree', 'tree-entry');
  await page.getByTestId('ref-picker').click();
  await page.getByTestId('ref-row').filter({ hasText: 'onload' }).click();
  await expect(page.getByTestId('ref-picker')).toContainText('onload');
  // The list is still there: the document has been the same all the time.
  const { violations, RAN } = await page.evaluate(() => {
    const seen = window as unknown as { violations?: string[]; RAN?: number };
    return { violations: seen.violations, RAN: seen.RAN };
  });
  expect({ ran, RAN, outside, violations }).toEqual({ ran: [], RAN: undefined, outside: [], violations: [] });
  console.log(`0 of ${payloads} scripts ran on ${pages} pages of the code (n = ${payloads})`);
});

async function newProject(person: Person): Promise<Project> {
  const slug = `code-${Date.now()}`;
  const { entity } = await person.client(api.projects.create, { title: 'Doubler', slug });
  await expect
    .poll(async () => (await person.client(api.projects.view, { id: entity.id })).entity.status)
    .toBe('active');
  return entity;
}

/** An API token, which is the password of git; it takes a mailed code. */
async function tokenOf(person: Person, platform: Platform): Promise<string> {
  await person.client(api.secondFactor.stepUpBegin, {});
  await person.client(api.secondFactor.stepUp, { code: await mailedCode(platform.url, person.email) });
  return (await person.client(api.apiTokens.create, { description: 'git' })).token;
}

function push(project: Project, token: string, ...what: string[]): void {
  const url = new URL(project.gitHttps);
  url.username = 'git';
  url.password = token;
  repository.git('push', '--quiet', url.href, ...what);
}

const marked = (page: Page) => page.locator('[data-testid="code-line"][data-marked]');

const widthOf = (page: Page, alt: string) =>
  page.getByAltText(alt).evaluate((image) => (image as HTMLImageElement).naturalWidth);
