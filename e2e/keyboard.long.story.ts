import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { mailedCode, PASSWORD, PHONE } from '@stagi/server/src/testing/person.ts';
import { press, tabTo, write } from './keyboard.ts';
import { openPublic } from './openPublic.ts';
import { type Machine, type SimulatedPlatform, startSimulatedPlatform } from './simulatedCloud.ts';

const ADD_SERVER = /add|attach|connect/i;

let platform: SimulatedPlatform;
let machine: Machine | null = null;

test.beforeAll(async () => {
  platform = await startSimulatedPlatform('keyboard');
});
test.afterAll(async () => {
  await machine?.shutDown();
  await platform?.stop();
});

test('the main job is done without a mouse: sign up, SSH key, rent, own server, container, logs', async ({ page }) => {
  const main = page.getByRole('main');
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  await test.step('sign up with the mailed code', async () => {
    await openPublic(page, platform.url);
    await press(page, page.getByRole('banner').getByRole('link', { name: 'Sign up' }));
    await expect(heading('Sign up')).toBeVisible();
    const email = `kim-${Date.now()}@example.com`;
    await write(page, main.getByRole('textbox', { name: 'Name' }), 'Kim Keys');
    await write(page, main.getByRole('textbox', { name: 'Email' }), email);
    await write(page, main.getByLabel('Password', { exact: true }), PASSWORD);
    await write(page, main.getByLabel('Repeat the password'), PASSWORD);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/confirmation/);
    await expect(main.getByLabel(/code/i).first()).toBeFocused();
    await page.keyboard.type(await mailedCode(platform.url, email));
    await expect(heading('About you')).toBeVisible();
    await write(page, main.getByLabel('Phone'), PHONE);
    await page.keyboard.press('Enter');
    await expect(heading('Models')).toBeFocused();
  });

  await test.step('an SSH key, found in the palette; the focus comes back to its button', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ssh keys');
    await page.keyboard.press('Enter');
    await expect(heading('SSH keys')).toBeFocused();
    // Until it is known that there are none, the button is in the header.
    await expect(main.getByText('No SSH keys yet')).toBeVisible();
    const add = main.getByRole('button', { name: 'Add SSH key' }).first();
    await press(page, add);
    const dialog = page.getByRole('dialog', { name: 'Add an SSH key' });
    await expect(dialog.getByRole('textbox', { name: 'Public key' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(add).toBeFocused();
    await page.keyboard.press('Enter');
    await write(page, dialog.getByRole('textbox', { name: 'Public key' }), publicKey());
    await write(page, dialog.getByRole('textbox', { name: 'Title' }), 'desk');
    await press(page, dialog.getByRole('button', { name: 'Add key' }));
    await expect(dialog).toBeHidden();
    await expect(main.getByText('desk', { exact: true }).first()).toBeVisible();
  });

  await test.step('rent a server of the marketplace', async () => {
    await blur(page);
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await expect(heading('Hardware marketplace')).toBeFocused();
    await press(page, page.getByTestId('offer-row').first().getByRole('link', { name: 'Rent' }));
    const form = page.getByRole('dialog', { name: 'Rent a server' });
    await write(page, form.getByRole('textbox', { name: 'Title' }), 'Desk Server');
    await expect(form.getByRole('textbox', { name: 'Unique ID' })).toHaveValue('desk-server');
    await press(page, form.getByTestId('rent-submit'));
    await expect(page).toHaveURL(/\/cloud\/instances\/\d+/);
    await expect(heading('Desk Server')).toBeFocused();
    await expect(page.getByTestId('instance-status').first()).toHaveText(/online/i, { timeout: 60_000 });
    // A key that was added is where ssh finds it.
    await expect(main.getByText(/^ssh \w+@[\d.]+$/)).toBeVisible();
  });

  await test.step('join a server of one’s own by the wizard', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await expect(heading('Self-hosted')).toBeFocused();
    await press(
      page,
      main
        .getByRole('link', { name: ADD_SERVER })
        .or(main.getByRole('button', { name: ADD_SERVER }))
        .first(),
    );
    await write(page, page.getByLabel('Title'), 'Closet');
    await press(page, page.getByTestId('wizard-next'));
    await tabTo(page, page.getByTestId('token-download'));
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    machine = await platform.join(readFileSync(await download.path(), 'utf8').trim());
    await expect(page.getByText(/is online|joined/i).first()).toBeVisible({ timeout: 30_000 });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('closet');
    await expect(page.getByRole('option', { name: /Closet/ })).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(heading('Closet')).toBeFocused();
  });

  await test.step('run a container on it', async () => {
    await press(page, main.getByRole('link', { name: 'Containers' }).last());
    await expect(page).toHaveURL(/\/containers$/);
    await press(page, main.getByRole('button', { name: 'Create a container' }).first());
    await expect(heading('Create a container')).toBeFocused();
    const form = main;
    await write(page, form.getByLabel('Name', { exact: true }), 'Counter');
    await write(page, form.getByLabel('Image'), 'alpine:3');
    await page.keyboard.press('Tab');
    await write(page, form.getByLabel('CPU', { exact: true }), '0.5');
    await press(page, page.getByTestId('container-submit'));
    await expect(page).toHaveURL(/\/cloud\/containers\/\d+/);
    await expect(page.getByTestId('container-status').first()).toHaveText(/running/i, { timeout: 60_000 });
    await expect(heading('Counter')).toBeFocused();
  });

  await test.step('read its log, search in it, stop and delete it', async () => {
    await press(page, main.getByRole('link', { name: 'Logs' }));
    await machine?.print('ready to count', 'one', 'two');
    await expect(page.getByTestId('log-lines').getByText('ready to count')).toBeVisible({ timeout: 30_000 });
    await tabTo(page, main.getByRole('link', { name: 'Logs' }));
    await page.keyboard.press('/');
    await expect(main.getByRole('searchbox')).toBeFocused();
    await page.keyboard.type('two');
    await expect(page.getByTestId('log-lines').getByText('ready to count')).toHaveCount(0, { timeout: 20_000 });
    await press(page, page.getByTestId('action-stop').first());
    await expect(page.getByTestId('container-status').first()).toHaveText(/stopped/i, { timeout: 60_000 });
    await press(page, page.getByTestId('action-delete').first());
    await write(page, page.getByRole('dialog').getByTestId('confirm-slug'), 'counter');
    await press(page, page.getByRole('dialog').getByTestId('confirm-submit'));
    await expect(page).toHaveURL(/\/cloud\/containers$/, { timeout: 30_000 });
    await expect(heading('Containers')).toBeFocused();
  });
});

/** A key that nobody has the other half of, as its file holds it. */
function publicKey(): string {
  const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const parts = [Buffer.from('ssh-ed25519'), Buffer.from(jwk.x ?? '', 'base64url')];
  const wire = parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]);
  return `ssh-ed25519 ${Buffer.concat(wire).toString('base64')} kim@desk`;
}

/** Out of any field, as Escape and a look around do. */
async function blur(page: Page): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
}
