import type { Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { expect, test } from './fixtures.ts';
import { expectLost } from './lostWorkspace.ts';
import { walkTo } from './navigation.ts';
import { enterAsNewPerson } from './people.ts';
import { type Replies, type Scripted, startScriptedProxy } from './scriptedProxy.ts';

const REFRESH = 'auth/exchange-refresh-token';
const EDIT = 'user/edit';
const PROFILE = 'user/profile';
const GENERIC = 'Something goes wrong. Try again!';
const DEADLINE = { timeout: 20_000 };
/** They start together, on a machine that may have much else to do. */
const THREE_PAGES = { timeout: 60_000 };

const price = (decimalValue: string) => ({
  STAGI: { currency: 'STAGI', decimalValue },
  USD: { currency: 'USD', decimalValue },
});
/** An offer on screen that the platform, which has no cloud, does not know. */
const ONE_OFFER = {
  isSuccess: true,
  entities: [
    {
      offerId: 'gone:small',
      provider: 'gone',
      providerTitle: 'Gone',
      region: 'here',
      gpu: null,
      cpu: { name: 'CPU', cores: 4 },
      ramGb: 8,
      disk: { type: 'ssd', sizeGb: 20 },
      pricePerHour: price('0.07'),
      stoppedPricePerHour: price('0'),
      spot: false,
      canStop: true,
      availability: 'available',
      seenAt: '2026-05-01T12:00:00.000Z',
      simulated: false,
    },
  ],
  totalPages: 1,
  totalCount: 1,
  providers: [],
} satisfies OutputOf<typeof api.hardware.offers>;

const refusal = (status: number, more: object = {}, retryAfter?: number): Scripted => ({
  status,
  body: { isSuccess: false, message: 'Not like this', ...more },
  retryAfter,
});

test('a session that ran out is refreshed once, in all calls and tabs at a time, and ends when that is refused', async ({
  page,
  context,
  platform,
}) => {
  const replies = await startScriptedProxy(platform);
  try {
    await enterAsNewPerson(page, replies);
    await page.goto(`${replies.url}/cloud/instances`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    const others = [await context.newPage(), await context.newPage()];
    // No page of the app is open when the token goes bad: one would ask by itself, and leave before the answer.
    for (const tab of [page, ...others]) await tab.goto(`${replies.url}/openapi.json`);

    // Everything a page asks for at its start meets the 401 at once, in three tabs.
    await page.evaluate(() => localStorage.setItem('accessToken', 'expired'));
    replies.seen.length = 0;
    await Promise.all([page, ...others].map((tab) => tab.goto(`${replies.url}/cloud/instances`)));
    for (const tab of [page, ...others]) {
      await expect(tab.getByRole('heading', { level: 1 })).toHaveText('Instances', THREE_PAGES);
      await expect(tab.getByTestId('profile-menu')).toBeVisible(THREE_PAGES);
    }
    expect(replies.count(REFRESH)).toBe(1);
    console.log(`calls of three tabs that met one refresh: n = ${replies.seen.length}`);
    for (const other of others) await other.close();

    // The refresh cannot be answered: nobody is signed out for it.
    await page.goto(`${replies.url}/profile/account`);
    await page.getByLabel('Name').fill('While it is away');
    await page.evaluate(() => localStorage.setItem('accessToken', 'expired'));
    replies.always(REFRESH, refusal(503, { message: 'The service is busy. Try again in a moment.' }, 1));
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'The service is busy' })).toBeVisible(DEADLINE);
    replies.always(REFRESH, null);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Your name has been saved')).toBeVisible(DEADLINE);

    await page.evaluate(() => {
      localStorage.setItem('accessToken', 'expired');
      localStorage.setItem('refreshToken', 'made up');
    });
    await page.goto(`${replies.url}/cloud/containers?status=running`);
    await expect(page).toHaveURL(/\/sign-in\?returnUrl=%2Fcloud%2Fcontainers/, DEADLINE);
    expect(
      await page.evaluate(() => Object.keys(localStorage).filter((key) => /token|authType|userMeta/i.test(key))),
    ).toEqual([]);
  } finally {
    replies.stop();
  }
});

test('every refusal is told once, in its place', async ({ page, platform }) => {
  const replies = await startScriptedProxy(platform);
  try {
    await enterAsNewPerson(page, replies);
    await openAccount(page, replies);

    const wait = { message: 'Too many attempts. Try again in 30 s.' };
    const toasts: [string, Scripted, string][] = [
      ['200 refused', refusal(200), 'Not like this'],
      ['400 without a field', refusal(400), 'Not like this'],
      [
        '409',
        refusal(409, { message: 'The same request is already in progress' }),
        'The same request is already in progress',
      ],
      [
        '422',
        refusal(422, { message: 'This Idempotency-Key was used for another request' }),
        'This Idempotency-Key was used',
      ],
      ['429', refusal(429, wait, 30), 'Try again in 30 s.'],
      ['429 without words of a wait', refusal(429, {}, 30), 'Not like this. Try again in 30 seconds'],
      ['500', refusal(500), GENERIC],
      ['502 of a proxy', { status: 502, body: '<h1>Bad gateway</h1>' }, 'The service is temporarily unavailable'],
      ['503', refusal(503, { message: 'The service is busy. Try again in a moment.' }, 2), 'The service is busy'],
      ['an answer nobody understands', { status: 200, body: { fine: true } }, GENERIC],
      ['no answer', 'hang up', 'The server cannot be reached'],
    ];
    for (const [name, scripted, words] of toasts) {
      await save(page, replies, scripted);
      const toast = page.getByRole('alert').filter({ hasText: words });
      await expect(toast, name).toHaveCount(1, DEADLINE);
      await expect(page, name).toHaveURL(/\/profile\/account$/);
      await expect(page.getByLabel('Name'), name).toHaveValue('Somebody else');
      await toast.getByRole('button').click();
      await expect(toast, name).toHaveCount(0, DEADLINE);
    }
    console.log(`refusals told by a toast: n = ${toasts.length}`);

    // At the field, without a toast.
    await save(page, replies, refusal(400, { message: 'Name is required', fieldsWithError: ['name'] }));
    await expect(page.getByText('Name is required')).toHaveCount(1, DEADLINE);
    await expect(page.getByLabel('Name')).toHaveAttribute('aria-invalid', 'true');
    // Nothing at all.
    await save(page, replies, refusal(500, { status: 499 }));
    await expect(page.getByRole('alert').filter({ hasText: /wrong|Not like/ })).toHaveCount(0);

    for (const status of [403, 404]) {
      await save(page, replies, refusal(status));
      await expect(page).toHaveURL(`${replies.url}/${status}`, DEADLINE);
      await openAccount(page, replies);
    }
    // The workspace is gone, says a call: the profile says otherwise, so the page stays.
    await save(page, replies, refusal(404, { fieldsWithError: ['X-Client-ID'] }));
    await expect(page.getByRole('alert').filter({ hasText: 'This workspace cannot be found' })).toHaveCount(
      1,
      DEADLINE,
    );
    await expect(page).toHaveURL(/\/profile\/account$/);
    await expect(page.getByLabel('Name')).toHaveValue('Somebody else');
    // The profile knows it no more: the first that is left, from the root on.
    const answered = page.waitForResponse((response) => response.url().endsWith(PROFILE));
    await openAccount(page, replies);
    const { userProfile } = (await (await answered).json()) as OutputOf<typeof api.user.profile>;
    const own = userProfile.clientRelations[0]!;
    const clientRelations = [{ ...own, clientId: 999_999_999, clientName: 'Next' }];
    replies.always(PROFILE, {
      status: 200,
      body: { isSuccess: true, userProfile: { ...userProfile, clientRelations } },
    });
    replies.always('stream-ticket', refusal(503));
    await save(page, replies, refusal(404, { fieldsWithError: ['X-Client-ID'] }));
    await expectLost(page, replies.url, { lost: own.clientName, next: 'Next' });
    // What the app asks by itself tells as well: the server has no such workspace.
    replies.always(PROFILE, null);
    replies.always('stream-ticket', null);
    await expectLost(page, replies.url, { lost: 'Next', next: own.clientName });
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('999999999');
  } finally {
    replies.stop();
  }
});

test('a failed rental and a failed deletion are named above their cause', async ({ page, platform }) => {
  const replies = await startScriptedProxy(platform);
  /** Reads the toast, and closes it: it may lie over the next button. */
  const expectFailure = async (title: string, cause: string): Promise<void> => {
    const toast = page.getByRole('alert').filter({ hasText: new RegExp(`^${title}\\s*${cause}`) });
    await expect(toast).toHaveCount(1, DEADLINE);
    await toast.getByRole('button').click();
    await expect(toast).toHaveCount(0, DEADLINE);
  };
  try {
    const person = await enterAsNewPerson(page, replies);
    await person.client(api.sshKeys.generate, { title: 'desk' });
    replies.always('hardware/offer/list', { status: 200, body: ONE_OFFER });

    await test.step('renting', async () => {
      await walkTo(page, '/cloud/marketplace');
      await page.getByTestId('offer-row').first().getByText(/rent/i).click();
      await page.getByLabel('Title').fill('Mine');
      const rent = async (scripted: Scripted | null) => {
        if (scripted) replies.next('instance-rented/rent', scripted);
        await page.getByTestId('rent-submit').click();
      };
      await rent(null);
      await expectFailure('rental error', 'This server is no longer available');
      await rent(refusal(503, { message: 'The service is busy. Try again in a moment.' }, 2));
      await expectFailure('rental error', 'The service is busy');
      await rent(refusal(500));
      await expectFailure('rental error', GENERIC);
      // What is said under a field needs no toast.
      await rent(refusal(400, { message: 'This Unique ID is taken', fieldsWithError: ['slug'] }));
      await expect(page.getByText('This Unique ID is taken')).toHaveCount(1, DEADLINE);
      await expect(page.getByRole('alert').filter({ hasText: 'rental error' })).toHaveCount(0);
      await page.keyboard.press('Escape');
    });

    await test.step('an offer whose provider is not ready yet is not called gone, and comes by itself', async () => {
      const preparing = { provider: 'gone', title: 'Gone', state: 'preparing', detail: null, progress: 0, since: null };
      const later = 'gone:later';
      replies.always('hardware/offer/list', { status: 200, body: { ...ONE_OFFER, providers: [preparing] } });
      await page.goto(`${replies.url}/cloud/marketplace?offer=${later}`);
      await expect(page.getByText('The offers of this provider are not known at the moment')).toBeVisible(DEADLINE);
      await expect(page.getByText('This offer is no longer available')).toHaveCount(0);
      const entities = ONE_OFFER.entities.map((offer) => ({ ...offer, offerId: later }));
      replies.always('hardware/offer/list', { status: 200, body: { ...ONE_OFFER, entities } });
      await expect(page.getByTestId('rent-submit')).toBeVisible(DEADLINE);
      await page.keyboard.press('Escape');
    });

    await test.step('deleting', async () => {
      await walkTo(page, '/profile/ssh');
      const remove = async (scripted: Scripted) => {
        replies.next('ssh-key/delete', scripted);
        await page.getByTestId('confirm-submit').click();
      };
      await page
        .getByRole('button', { name: /actions/i })
        .first()
        .click();
      await page.getByTestId('action-delete').click();
      await remove(refusal(200));
      await expectFailure('deletion error', 'Not like this');
      await remove(refusal(400, { message: 'This cannot be' }));
      await expectFailure('deletion error', 'This cannot be');
      await remove(refusal(409, { message: 'The same request is already in progress' }));
      await expectFailure('deletion error', 'The same request is already in progress');
    });
  } finally {
    replies.stop();
  }
});

test('what the app asks by itself neither navigates nor toasts, but the first load of a page does', async ({
  page,
  platform,
}) => {
  const replies = await startScriptedProxy(platform);
  try {
    await enterAsNewPerson(page, replies);
    // In the header, and behind the screen: the page stays.
    replies.always('billing/balance', refusal(403));
    replies.always('stream-ticket', refusal(404));
    await page.goto(`${replies.url}/cloud/instances`);
    await expect(page.getByText('No servers rented yet')).toBeVisible();
    replies.always('instance-rented/list', refusal(404));
    const before = replies.count('instance-rented/list');
    // Without a stream the app reads again by itself.
    await expect.poll(() => replies.count('instance-rented/list'), { timeout: 40_000 }).toBeGreaterThan(before);
    await expect(page).toHaveURL(/\/cloud\/instances/);
    await expect(page.getByRole('alert').filter({ hasText: 'Not like this' })).toHaveCount(0);

    await page.goto(`${replies.url}/profile/account`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
    await page.goto(`${replies.url}/cloud/instances`);
    await expect(page).toHaveURL(`${replies.url}/404`, DEADLINE);
    replies.always('instance-rented/list', refusal(403));
    await page.goto(`${replies.url}/cloud/instances`);
    await expect(page).toHaveURL(`${replies.url}/403`, DEADLINE);
  } finally {
    replies.stop();
  }
});

async function openAccount(page: Page, { url }: Replies): Promise<void> {
  await page.goto(`${url}/profile/account`);
  await page.getByLabel('Name').fill('Somebody else');
}

async function save(page: Page, replies: Replies, scripted: Scripted): Promise<void> {
  const before = replies.count(EDIT);
  replies.next(EDIT, scripted);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => replies.count(EDIT), DEADLINE).toBe(before + 1);
}
