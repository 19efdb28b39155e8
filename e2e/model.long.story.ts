import { expect, type Page, test } from '@playwright/test';
import { fileOf, filesOf, QUALITIES } from '@stagi/perf/quality.ts';
import { LLAMA, modelOf, predictOn } from './predictions.ts';
import { type SimulatedPlatform, startSimulatedPlatform } from './simulatedCloud.ts';

let platform: SimulatedPlatform;
test.beforeAll(async () => {
  platform = await startSimulatedPlatform('model-long');
});
test.afterAll(() => platform?.stop());

test('what is not predicted has a reason and no number', async ({ page }) => {
  const nvfp4 = fileOf(filesOf(LLAMA), 'M')!;
  const onL4 = predictOn('l4', { clients: 8 }, 'M');
  expect([nvfp4.precision, onL4.tpot, onL4.ttft, onL4.rate]).toEqual([
    'nvfp4',
    'not measured',
    'not measured',
    'not measured',
  ]);
  await page.goto(`${platform.url}/models/llama-3.1-8b-instruct?gpu=l4&quality=M`);
  await expectNoSpeed(page, 'nobody has published measurements');
  await page.goto(`${platform.url}/models/bge-m3`);
  await expectNoSpeed(page, 'there is no formula');
  await page.goto(`${platform.url}/models/flux.1-dev`);
  await expectNoSpeed(page, 'there is no formula');
  await expect(page.getByTestId('memory-cache')).toHaveCount(0);
  await expect(page.getByText('Offers by price per hour')).toBeVisible();

  await page.goto(`${platform.url}/models/llama-3.1-8b-instruct?gpu=l4`);
  expect(predictOn('l4', { clients: 8 }).ttft).toBe('error too large');
  await expect(page.getByTestId('ttft')).toContainText('differ from the formula by more than 35 %');
  await expect(page.getByTestId('ttft-value')).toHaveCount(0);
  await expect(page.getByTestId('ttft')).not.toContainText(/\d (?:ms|s)\b/);
});

test('a quality that nobody publishes is empty, and a model that is not there is not found', async ({ page }) => {
  const published = new Set(filesOf(modelOf('deepseek-ai/DeepSeek-V3')).map(({ quality }) => quality));
  await page.goto(`${platform.url}/models/deepseek-v3`);
  await expect(page.getByTestId('gpu-h200-sxm').getByRole('button')).toHaveCount(published.size);
  await expect(page.getByTestId('gpu-matrix').getByText('not published')).toHaveCount(
    QUALITIES.length - published.size,
  );
  await page.goto(`${platform.url}/models/no-such-model`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This model is not in the catalogue');
  await page.getByRole('link', { name: 'All models' }).click();
  await expect(page).toHaveURL(`${platform.url}/models`);
});

test('a phone shows the same in its language, without scrolling sideways', async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, locale: 'ru-RU' });
  const page = await context.newPage();
  await page.goto(`${platform.url}/models/llama-3.1-8b-instruct?id=meta-llama/Llama-3.1-8B-Instruct&gpu=l4`);
  await expect(page.getByRole('heading', { name: 'Скорость на 1 × L4 24GB' })).toBeVisible();
  await expect(page.getByTestId('ranked-offer').first()).toContainText('Имитация');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  const cell = page.getByTestId('gpu-l4').getByRole('button').last();
  await cell.scrollIntoViewIfNeeded();
  await cell.click();
  await expect(page).toHaveURL(/quality=|gpu=l4/);
  await context.close();
});

test('help is asked for, code is copied, and a full line waits', async ({ page }) => {
  const refusal = { isSuccess: false, message: 'Too many requests' };
  await page.route(
    '**/model/fit',
    (route) => route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json: refusal }),
    { times: 1 },
  );
  await page.goto(`${platform.url}/models/bge-m3`);
  await expect(page.getByTestId('offers')).toContainText('Try again in 2 seconds');
  await expect(page.getByTestId('ranked-offer')).toHaveCount(3, { timeout: 60_000 });
  const snippets = page.getByTestId('model-snippets');
  await expect(snippets.locator('code')).toContainText('/v1/embeddings');
  await snippets.getByRole('tab', { name: 'Python' }).click();
  await expect(snippets.locator('code')).toContainText('model="BAAI/bge-m3"');
  await page.getByTestId('model-help').click();
  await expect(page.getByTestId('contact-dialog')).toContainText('BGE M3');
});

async function expectNoSpeed(page: Page, reason: string): Promise<void> {
  const speed = page.getByTestId('speed');
  await expect(speed.getByTestId('not-predicted')).toContainText(reason);
  await expect(speed.getByTestId(/-value$/)).toHaveCount(0);
  await expect(speed.locator('[aria-live]')).not.toContainText(/\d (?:ms|s|tokens|STAGI)\b/);
}
