import { expect, type Page } from '@playwright/test';
import type { PendingSecondFactor } from '@stagi/web/src/features/auth/pendingSecondFactor.ts';
import { walkTo } from './navigation.ts';
import { pseudo } from './pseudoLanguage.ts';
import { screensOf } from './screens.ts';
import { openInPseudo, startWalk } from './screenWalk.ts';
import { seededTest as test } from './seededPlatform.ts';

// Each screen is opened once, for all that is to be true of every screen: axe finds nothing serious in either theme,
// every text is translated, and none is cut off, covered or wider than the screen.

test('every screen of visitors is accessible, translated and has room', async ({ browser, lab }) => {
  test.setTimeout(300_000);
  const { platform, ids } = lab;
  const page = await openInPseudo(browser, platform.url, null);
  await test.step('a look finds a fault of each kind', async () => {
    const walk = startWalk(page);
    await addFaults(page);
    await walk.look('here');
    const each = FAULTS.map(({ found }) => expect.stringContaining(found));
    expect(walk.findings()).toEqual(expect.arrayContaining(each));
    await page.evaluate(() => document.getElementById('faults')?.remove());
  });
  await passFirstFactor(page);
  const walk = startWalk(page);
  await walk.visit(screensOf('visitor', ids));
  walk.expectNothingFound('visitor');
  await page.context().close();
});

test('every screen of members is accessible, translated and has room', async ({ browser, lab }) => {
  test.setTimeout(420_000);
  const { platform, person, ids } = lab;
  const page = await openInPseudo(browser, platform.url, person);
  const walk = startWalk(page);
  await walk.visit(screensOf('member', ids));

  await walkTo(page, '/cloud/marketplace');
  await page.getByTestId('offer-row').first().getByText(pseudo('Rent'), { exact: true }).click();
  await expect(page.getByTestId('rent-submit')).toBeVisible();
  await walk.look('the rent panel');
  await page.keyboard.press('Escape');
  await walkTo(page, `/cloud/instances/${ids.instance}`);
  await page.getByTestId('action-terminate').click();
  await expect(page.getByTestId('confirm-slug')).toBeVisible();
  await walk.look('the question before terminating');
  await page.keyboard.press('Escape');
  await page.getByTestId('profile-menu').click();
  await walk.look('the profile');
  walk.expectNothingFound('member');
  await page.context().close();
});

test('every screen of operators is accessible, translated and has room', async ({ browser, lab }) => {
  const { platform, operator, ids } = lab;
  const page = await openInPseudo(browser, platform.url, operator);
  const walk = startWalk(page);
  await walk.visit(screensOf('operator', ids));
  walk.expectNothingFound('operator');
  await page.context().close();
});

/** One of each kind, and the finding of it. */
const FAULTS = [
  { html: '<button type="button"></button>', found: 'here, light: button-name: #faults > button' },
  { html: '<p>Not translated</p>', found: 'here at 1280 px: not translated: Not translated' },
  {
    html: `<h2 style="width: 20px; overflow: hidden; white-space: nowrap">${pseudo('Cut off')}</h2>`,
    found: `here at 1280 px: cut off (clip): h2 "${pseudo('Cut off')}"`,
  },
  {
    html: `<p style="position: fixed; top: 40%; margin: 0">${pseudo('Beneath')}</p>
      <i style="position: fixed; top: 40%; width: 200px; height: 40px; background: gray; pointer-events: none"></i>`,
    found: `here at 1280 px: covered: p "${pseudo('Beneath')}" by i ""`,
  },
  { html: '<p style="width: 1300px">·</p>', found: 'px wider than the screen' },
];

async function addFaults(page: Page): Promise<void> {
  const html = FAULTS.map((fault) => fault.html).join('');
  await page.evaluate((inside) => {
    const faults = document.createElement('div');
    faults.id = 'faults';
    faults.innerHTML = inside;
    document.body.append(faults);
  }, html);
}

/** Where a visitor is who has shown the first of two factors. */
async function passFirstFactor(page: Page): Promise<void> {
  const pending: PendingSecondFactor = {
    ticket: 'of nobody',
    methods: ['passkey', 'totp', 'recovery-code'],
    type: 'email',
  };
  await page.evaluate((value) => sessionStorage.setItem('pendingSecondFactor', value), JSON.stringify(pending));
}
