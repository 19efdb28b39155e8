import type { Page } from '@playwright/test';
import { httpSender, mailedCode, PASSWORD, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { totpCode } from '@stagi/server/src/testing/totpCode.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { typeCode } from './people.ts';

test('somebody sets up an app and a passkey, and logs in with a recovery code, then with the passkey alone, by button and suggestion', async ({
  page,
  platform,
}) => {
  const person = await signUp(platform.url, httpSender(platform.url), {
    name: 'Hedy Lamarr',
    email: `factors-${Date.now()}@example.com`,
  });
  const authenticator = await haveAuthenticator(page);
  await openSecurity(page, platform.url, person);

  // What concerns the safety of the account is asked for once.
  await page.getByTestId('totp-begin').click();
  const stepUp = page.getByTestId('step-up');
  await expect(stepUp.getByText(`We sent an 8-digit code to ${person.email}`)).toBeVisible();
  await typeCode(page, await mailedCode(platform.url, person.email));
  await expect(page.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible();
  await expect(stepUp).toHaveCount(0);
  const key = (await page.getByTestId('totp-secret').textContent()) ?? '';
  await page.getByLabel('Code from the app').fill('000000');
  await expect(page.getByText('Incorrect or expired code')).toBeVisible();
  await page.getByLabel('Code from the app').fill(totpCode(key));
  const codes = page.getByTestId('recovery-codes').getByRole('listitem');
  await expect(codes).toHaveCount(10);
  const [recovery = ''] = await codes.allInnerTexts();
  await expectAccessible(page, 'recovery codes');
  // They are shown once: no Escape closes them by mistake.
  await page.keyboard.press('Escape');
  await expect(codes).toHaveCount(10);
  await page.getByTestId('recovery-codes-kept').click();
  await expect(page.getByText('10 codes are left')).toBeVisible();

  await page.getByTestId('passkey-add').click();
  await page.getByTestId('passkey-continue').click();
  const passkeys = page.getByTestId('passkey-row');
  await expect(passkeys).toHaveCount(1);
  await expect(passkeys.getByText('Passkey 1', { exact: true })).toBeVisible();
  await page.setViewportSize({ width: 360, height: 740 });
  await expectAccessible(page, 'security');
  await noSidewaysScroll(page);

  // Otherwise the passkey would log in at once: it agrees to whatever the field for the address suggests.
  await authenticator.agrees(false);
  // With the password the second factor is asked for, here in another language, with the way back kept.
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${platform.url}/sign-in?returnUrl=${encodeURIComponent('/profile/account/security')}`);
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('One more step');
  await page.getByTestId('language-ru').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Ещё один шаг');
  await page.getByTestId('language-en').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('One more step');
  await expectAccessible(page, 'second factor');
  await noSidewaysScroll(page);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill('aaaaa-aaaaa');
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page.getByText('Incorrect or expired code')).toBeVisible();
  await page.getByLabel('Recovery code').fill(recovery);
  await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
  await expect(page.getByText('9 codes are left')).toBeVisible();

  // The button alone, as in browsers that suggest nothing: else the suggestion would log in, and take the button away.
  await page.addInitScript(() => {
    if (sessionStorage.getItem('suggestsNothing'))
      PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.setItem('suggestsNothing', 'true');
  });
  await page.goto(`${platform.url}/sign-in?returnUrl=${encodeURIComponent('/profile/account/security')}`);
  await expect(page.getByLabel('Email')).toHaveAttribute('autocomplete', 'username webauthn');
  await authenticator.agrees(true);
  await page.getByTestId('passkey-login').click();
  await expect(passkeys).toHaveCount(1);

  // Picked among the suggestions of the field for the address: nothing is typed and nothing pressed.
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.removeItem('suggestsNothing');
  });
  await page.goto(`${platform.url}/sign-in?returnUrl=${encodeURIComponent('/profile/account/security')}`);
  await expect(passkeys).toHaveCount(1);

  // Whoever has just logged in with a second factor has shown that it is them.
  await passkeys.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByTestId('action-remove').click();
  await page.getByTestId('confirm-submit').click();
  await expect(page.getByText('The passkey has been removed')).toBeVisible();
  await expect(passkeys).toHaveCount(0);
});

/** A platform authenticator of Chromium's own (CDP, domain WebAuthn). It agrees to everything until it is told not to. */
async function haveAuthenticator(page: Page): Promise<{ agrees(enabled: boolean): Promise<unknown> }> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    agrees: (enabled) => devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
  };
}

async function openSecurity(page: Page, url: string, person: Person): Promise<void> {
  await page.goto(`${url}/configuration.json`);
  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    person.tokens(),
  );
  await page.goto(`${url}/profile/account/security`);
  await expect(page.getByTestId('totp-begin')).toBeVisible();
}

async function noSidewaysScroll(page: Page): Promise<void> {
  expect(await sideways(page)).toBeLessThanOrEqual(0);
}
