import { api } from '@stagi/contract/api.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { enterAsNewPerson } from './people.ts';
import { type SimulatedPlatform, startSimulatedPlatform } from './simulatedCloud.ts';

let platform: SimulatedPlatform;
test.beforeAll(async () => {
  platform = await startSimulatedPlatform('model-rent');
});
test.afterAll(() => platform?.stop());

const LLAMA = '/models/llama-3.1-8b-instruct';

test('a model is deployed on the cheapest server that fits, which is rented with the same form', async ({ page }) => {
  const ada = await enterAsNewPerson(page, platform);
  await ada.client(api.sshKeys.generate, { title: 'laptop' });
  await page.goto(`${platform.url}${LLAMA}?quality=XL`);
  await page.getByTestId('deploy-model').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Deploy Llama 3.1 8B Instruct');
  await expect(page.getByRole('radio', { name: 'XL' })).toBeChecked();
  await expect(page.getByText('This workspace has no server yet')).toBeVisible();

  await test.step('only offers that fit are listed, the cheapest is chosen', async () => {
    await page.getByText('Rent the cheapest that fits', { exact: true }).click();
    const offer = page.getByTestId('deploy-offer');
    await expect(offer).toContainText('1 × Simulated L4');
    await expect(offer).toContainText('0.805 STAGI/h');
    await expect(offer).toContainText('Simulated cloud');
    await offer.click();
    await expect(page.getByRole('option')).toHaveCount(3);
    await page.keyboard.press('Escape');
    await page.getByText('Original', { exact: true }).click();
    await expect(offer).toContainText('Simulated L4');
    await page.getByLabel('Context').fill('131072');
    await expect(offer).toContainText('Simulated A100');
    await page.getByLabel('Context').fill('8192');
    await page.getByText('XL', { exact: true }).click();
    await expect(offer).toContainText('Simulated L4');
    await expectAccessible(page, 'the form that rents and deploys');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('one press rents the server and waits for it', async () => {
    await page.getByTestId('deploy-submit').click();
    await expect(page.locator('[data-status="waiting for server"]')).toBeVisible();
    await expect(page.getByText('The server is being rented')).toBeVisible();
    const { entities } = await ada.client(api.instances.list, {});
    expect(entities).toMatchObject([
      { title: 'Llama 3.1 8B Instruct', slug: 'llama-3-1-8b-instruct-server', gpu: { name: 'Simulated L4', count: 1 } },
    ]);
  });

  await test.step('a second one is refused with the limit of the plan', async () => {
    await page.getByTestId('deploy-model').click();
    await page.getByText('Rent the cheapest that fits', { exact: true }).click();
    await page.getByLabel('Unique ID').fill('another-llama');
    await page.getByTestId('deploy-submit').click();
    await expect(page.getByText('GPU servers that your plan allows at a time: 1').first()).toBeVisible();
    await expect(page.getByLabel('Unique ID')).toHaveValue('another-llama');
  });

  await test.step('what waits is cancelled; the server stays', async () => {
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page.getByText('Not yet. Deploy it to a server that it fits')).toBeVisible();
    expect((await ada.client(api.instances.list, {})).totalCount).toBe(1);
  });
});
