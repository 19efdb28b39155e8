import { expect, type Page } from '@playwright/test';
import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { findCutOffText } from './cutOffText.ts';
import { waitForScreen, walkTo } from './navigation.ts';
import { openAs } from './people.ts';
import type { Ids } from './screens.ts';
import { openInPseudo } from './screenWalk.ts';
import { seededTest as test } from './seededPlatform.ts';
import { findUntranslated } from './untranslatedText.ts';

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

interface Findings {
  looks: number;
  /** Each once, with where it was met first. */
  of: Map<string, string>;
}

test('every menu, panel and dialog without an address is translated and has room', async ({ browser, lab }) => {
  test.setTimeout(300_000);
  const page = await openInPseudo(browser, lab.platform.url, lab.person);
  const findings: Findings = { looks: 0, of: new Map() };
  for (const { name, path, open, width } of overlays(lab.ids)) {
    await walkTo(page, '/cloud/instances');
    await page.setViewportSize({ width: width ?? 1280, height: HEIGHT });
    await walkTo(page, path);
    await open(page);
    await look(page, name, findings, { isPseudo: true, widths: width ? [width] : WIDTHS });
    await page.keyboard.press('Escape');
  }
  console.log(`made-up language: n = ${findings.looks} looks`);
  expectNothing(findings);
  await page.context().close();
});

test('the languages that are spoken have room on the narrowest screen', async ({ browser, lab }) => {
  const { platform, person } = lab;
  const page = await openAs(browser, platform.url, person, '/cloud/instances');
  const findings: Findings = { looks: 0, of: new Map() };
  for (const language of LANGUAGES) {
    await page.evaluate((chosen) => localStorage.setItem('language', chosen), language);
    await page.goto(`${platform.url}/cloud/instances`);
    await expect(page.locator('html')).toHaveAttribute('lang', LOCALE[language]);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    for (const path of FEW) {
      await walkTo(page, path);
      await look(page, `${language} ${path}`, findings, { isPseudo: false });
    }
  }
  console.log(`spoken languages: n = ${findings.looks} looks`);
  expectNothing(findings);
  await page.context().close();
});

function expectNothing({ of, looks }: Findings): void {
  expect([...of].map(([finding, where]) => `${where}: ${finding}`)).toEqual([]);
  expect(looks).toBeGreaterThan(0);
}

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
    if (isPseudo) for (const line of await findUntranslated(page)) note(line);
    findings.looks += 1;
  }
  await page.setViewportSize({ width: 1280, height: HEIGHT });
}

/** Those that `screens.story.ts` does not open; `width`: those of one width only. */
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
    { name: 'the filters of models', path: '/models', width: 360, open: press('open-filters') },
    { name: 'renaming', path: `/cloud/instances/${instance}`, open: press('action-rename') },
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
