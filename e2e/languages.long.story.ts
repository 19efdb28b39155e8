import { expect, type Page } from '@playwright/test';
import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { findCutOffText, untranslated } from './cutOffText.ts';
import { waitForScreen, walkTo } from './navigation.ts';
import { OPEN, pseudo, speakPseudo } from './pseudoLanguage.ts';
import { type Ids, ownScreens, publicScreens, seededTest as test } from './seededPlatform.ts';

/** What is not language: names that people and machines bear, of software and keys, units, commands as examples. */
const DATA = new RegExp(
  [
    ...calendarNames('tr'),
    /\b(?:(?:Modified )?MIT|Apache 2\.0|CC BY-NC 4\.0|NVIDIA Open Model|FLUX\.\d dev Non-Commercial|OpenRAIL-M)\b|\b\d+(?:[.,]\d+)?[KMBT]\b/,
    catalogueNames(),
    /DD\/MM\/YYYY|\bEsc\b|\btraining\b|\bCPU\b|SHA256:\S+|ssh-ed25519 AAAA… you@|\bNAME\b|(?:\/srv)?\/models/,
    /Ada’s workspace|Ada|ada@example\.com|Training|Trainer|trainer(?:-2)?|Lab 3|lab-3|Web|laptop/,
    /Simulated (?:cloud|CPU|[A-Z]\d+)|eu-sim-\d|fake:sim-[\w-]+/,
    /Stagi|STAGI|curl(?! -f)|Python|NVIDIA|Ubuntu|vLLM|Ollama|Docker|Git|HTTPS?|SSH|README(?:\.md)?|Ctrl|English|简体中文|Русский|Türkçe/,
    /\b[GT]B\b|\bRTX \d+\b/,
    /winter-data|Data|\blog-[\w-]+|\blogs\b|\blocal\b|AWS CLI|rclone|boto3|s3cmd|JavaScript|STG[A-Z2-7]+/,
    /pip install -r requirements\.txt && python train\.py --data \$STAGI_INPUT_PATH|(?:data|datasets)\/|\/(?:workspace|input|output)\b|\bUTC\b/,
    /curl -f localhost:8000|Evaluation|\btask-\d+(?:-\d+)?\b|\brun-\d+|\bSEED\b|Europe\/Berlin/,
    /Llama 3\.1(?: 8B Instruct)?|\bMeta\b|meta-llama\/[\w.-]+|\b(?:nvfp4|fp8|bf16|XL|MB)\b/,
    /(?:GeForce RTX|Instinct|\b[ABHL]\d+S?\b)(?: \d+\b| [A-Z]+\d*X?\b| PCIe| \d+GB)*/,
    /stg_\d+_\w*…|\bmain\b|simulated SSD|us-sim-\d|\bweb\b|nginx:1\.29|ubuntu:24\.04|python:3\.14-slim|python -u train\.py --epochs 10/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

const WIDTHS = [1280, 360];
const HEIGHT = 800;
/** Where the real languages are held against the width of the screen. */
const FEW = [
  '/cloud/marketplace',
  '/cloud/self-instances?new=1',
  '/cloud/containers?new=1',
  '/projects/tasks/create',
  '/profile/ssh',
  '/models?task=code&size=4-10&gpu=l4.2',
];

/** Names of days and months are the browser's own. */
function calendarNames(locale: string): RegExp[] {
  const names = (count: number, options: Intl.DateTimeFormatOptions) =>
    Array.from({ length: count }, (_, at) =>
      new Intl.DateTimeFormat(locale, options).format(new Date(2026, count === 12 ? at : 0, count === 12 ? 1 : at + 1)),
    );
  const all = [
    ...names(7, { weekday: 'long' }),
    ...names(7, { weekday: 'short' }),
    ...names(12, { month: 'long' }),
    ...names(12, { month: 'short' }),
  ];
  return [new RegExp(all.sort((a, b) => b.length - a.length).join('|'))];
}

/** Of models and their publishers; some begin like others. */
function catalogueNames(): RegExp {
  const names = [...new Set(models.flatMap(({ name, publisher }) => [name, publisher]))];
  const escaped = names.toSorted((a, b) => b.length - a.length).map((name) => name.replace(/[.()]/g, '\\$&'));
  return new RegExp(escaped.join('|'));
}

interface Findings {
  looks: number;
  /** Each once, with where it was met first. */
  of: Map<string, string>;
}

test('every text of every screen, menu and dialog is translated and can be read', async ({ browser, lab }) => {
  // Every screen, and there are ever more of them.
  test.setTimeout(420_000);
  const { platform, person, ids } = lab;
  const context = await browser.newContext({ reducedMotion: 'reduce', permissions: ['clipboard-write'] });
  const texts = await speakPseudo(context);
  const page = await context.newPage();
  const findings: Findings = { looks: 0, of: new Map() };

  await test.step('a language that nobody speaks shows what is not translated or has no room', async () => {
    await page.addInitScript(() => localStorage.setItem('language', localStorage.getItem('language') ?? 'tr'));
    await page.goto(platform.url);
    await expect(page.getByText(OPEN).first()).toBeVisible();
    await expectFinderToFind(page);
    for (const path of publicScreens(ids)) {
      await walkTo(page, path);
      await look(page, path, findings, { isPseudo: true });
    }
    await page.evaluate(
      ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
      person.tokens(),
    );
    await page.goto(`${platform.url}/profile/account`);
    for (const path of ownScreens(ids)) {
      await walkTo(page, path);
      await look(page, path, findings, { isPseudo: true });
    }
    for (const { name, path, open, width } of overlays(ids)) {
      await walkTo(page, '/cloud/instances');
      await page.setViewportSize({ width: width ?? 1280, height: HEIGHT });
      await walkTo(page, path);
      await open(page);
      await look(page, name, findings, { isPseudo: true, widths: width ? [width] : WIDTHS });
      await page.keyboard.press('Escape');
    }
    console.log(`pseudo-language: n = ${texts} texts, ${findings.looks} looks`);
  });

  await test.step('the languages that are spoken have room on the narrowest screen', async () => {
    await context.unrouteAll();
    const before = findings.looks;
    for (const language of LANGUAGES) {
      await page.evaluate((chosen) => localStorage.setItem('language', chosen), language);
      await page.goto(`${platform.url}/cloud/instances`);
      await expect(page.locator('html')).toHaveAttribute('lang', LOCALE[language]);
      await expect(page.getByRole('heading', { level: 1 })).not.toContainText(OPEN);
      for (const path of FEW) {
        await walkTo(page, path);
        await look(page, `${language} ${path}`, findings, { isPseudo: false });
      }
    }
    await page.evaluate(() => localStorage.setItem('language', 'en'));
    await page.goto(`${platform.url}/profile/ssh`);
    await page.getByRole('button', { name: 'Copy the key' }).first().click();
    await expect(page.getByRole('status').filter({ hasText: 'Copied' })).toBeAttached();
    console.log(`spoken languages: n = ${findings.looks - before} looks`);
  });

  expect([...findings.of].map(([finding, where]) => `${where}: ${finding}`)).toEqual([]);
  expect(findings.looks).toBeGreaterThan(0);
  await context.close();
});

async function look(
  page: Page,
  where: string,
  findings: Findings,
  { isPseudo, widths = WIDTHS }: { isPseudo: boolean; widths?: readonly number[] },
): Promise<void> {
  const note = (finding: string) => findings.of.set(finding, findings.of.get(finding) ?? where);
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const line of await findCutOffText(page)) note(`at ${width} px: ${line}`);
    if (isPseudo) for (const words of await untranslated(page, DATA)) note(`not translated: ${words}`);
    findings.looks += 1;
  }
  await page.setViewportSize({ width: 1280, height: HEIGHT });
}

/** Menus, panels and dialogs that have no address; `width`: those of one width only. */
function overlays({ instance, selfInstance, container, project, task }: Ids) {
  const press = (testId: string) => async (page: Page) => {
    await page.getByTestId(testId).first().click();
    await waitForScreen(page);
  };
  const key = (keys: string, shown: string) => async (page: Page) => {
    // What was open before goes first: it would pass for what is opened now.
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.keyboard.press(keys);
    await expect(page.getByRole('dialog').locator(shown).first()).toBeVisible();
    await waitForScreen(page);
  };
  const all: { name: string; path: string; open(page: Page): Promise<void>; width?: number }[] = [
    { name: 'the profile', path: '/profile/account', open: press('profile-menu') },
    {
      name: 'the menu at the side',
      path: '/profile/account',
      width: 360,
      open: async (page) => {
        await press('open-panel')(page);
        // It is fetched first: an Escape before it is there would not close it.
        await expect(page.getByRole('dialog')).toBeVisible();
      },
    },
    { name: 'the palette', path: '/profile/account', open: key('Control+k', '[data-testid=palette-input]') },
    { name: 'the map of keys', path: '/profile/account', open: key('?', 'kbd') },
    { name: 'the menu of feedback', path: '/profile/account', open: press('feedback-button') },
    {
      name: 'the feedback form with what is wrong',
      path: '/profile/account',
      open: async (page) => {
        await press('feedback-button')(page);
        await press('feedback-open-form')(page);
        await press('feedback-submit')(page);
      },
    },
    {
      name: 'the rent panel',
      path: '/cloud/marketplace',
      open: async (page) => {
        await page.getByTestId('offer-row').first().getByText(pseudo('Rent'), { exact: true }).click();
        await expect(page.getByTestId('rent-submit')).toBeVisible();
        await waitForScreen(page);
      },
    },
    { name: 'the filters of models', path: '/models', width: 360, open: press('open-filters') },
    { name: 'renaming', path: `/cloud/instances/${instance}`, open: press('action-rename') },
    { name: 'terminating', path: `/cloud/instances/${instance}`, open: press('action-terminate') },
    { name: 'dates', path: `/cloud/instances/${instance}/activities`, open: press('date-range') },
    {
      name: 'deleting the account',
      path: '/profile/account',
      open: async (page) => {
        await press('account-delete')(page);
        await expect(page.getByRole('dialog')).toBeVisible();
        await waitForScreen(page);
      },
    },
    { name: 'a new key', path: '/profile/ssh', open: press('ssh-key-add') },
    { name: 'a new join link', path: '/profile/team/invites', open: press('invite-create') },
    { name: 'a new token', path: '/profile/tokens', open: press('token-create') },
    { name: 'the addresses of a project', path: `/projects/${project}/activity`, open: press('project-clone') },
    {
      name: 'deleting a project',
      path: `/projects/${project}/settings`,
      open: async (page) => {
        await press('project-delete')(page);
        await expect(page.getByTestId('confirm-slug')).toBeVisible();
      },
    },
    { name: 'canceling a task', path: `/projects/tasks/${task}`, open: press('action-cancel') },
    { name: 'dates of a log', path: `/cloud/containers/${container}/logs`, open: press('date-range') },
    {
      name: 'the filters of a log',
      path: `/cloud/containers/${container}/logs`,
      width: 360,
      open: press('log-filters'),
    },
    {
      name: 'the container form with what is wrong',
      path: `/cloud/self-instances/${selfInstance}/containers`,
      open: async (page) => {
        await press('container-create')(page);
        for (const row of ['add-port', 'add-env', 'add-volume', 'container-submit']) await press(row)(page);
      },
    },
    {
      name: 'the credentials of registries with what is wrong',
      path: `/cloud/self-instances/${selfInstance}/containers`,
      open: async (page) => {
        for (const step of ['container-create', 'registries-open', 'registry-submit']) await press(step)(page);
      },
    },
    {
      name: 'removing an image',
      path: `/cloud/self-instances/${selfInstance}/images`,
      open: async (page) => {
        await page.getByTestId('image-row').first().getByRole('button').click();
        await press('action-remove')(page);
      },
    },
  ];
  return all;
}

/** A finder that finds nothing would pass too. */
async function expectFinderToFind(page: Page): Promise<void> {
  await page.evaluate(() => {
    const probe = document.createElement('div');
    probe.id = 'probe';
    probe.innerHTML =
      '<p style="width: 20px; overflow: hidden; white-space: nowrap">Not translated</p><p style="width: 5000px">wide</p>';
    document.body.append(probe);
  });
  expect(await untranslated(page, DATA)).toEqual(expect.arrayContaining(['Not translated', 'wide']));
  expect((await findCutOffText(page)).map((line) => line.split(/[ :]/)[0])).toEqual(['the', 'cut', 'beyond']);
  await page.evaluate(() => document.getElementById('probe')?.remove());
}
