import { expect, type Page, test } from '@playwright/test';
import { gpus } from '@stagi/perf/catalogueFiles.ts';
import { engineOf, leastGpus } from '@stagi/perf/leastGpus.ts';
import { fits } from '@stagi/perf/memory.ts';
import { costPerMillion, isEstimate, type Load } from '@stagi/perf/predict.ts';
import { fileOf, filesOf, QUALITIES } from '@stagi/perf/quality.ts';
import { priceText, rateText, secondsText } from '@stagi/web/src/features/models/detail/figures.ts';
import { formatBytes } from '@stagi/web/src/ui/format.ts';
import { expectAccessible } from './accessible.ts';
import { type Ingestion, startIngestion } from './ingestion.ts';
import { gpuOf, LLAMA, predictOn } from './predictions.ts';
import { type SimulatedPlatform, startSimulatedPlatform } from './simulatedCloud.ts';

const DEADLINE = { timeout: 60_000 };

let platform: SimulatedPlatform;
let ingestion: Ingestion;
test.beforeAll(async () => {
  ingestion = await startIngestion();
  platform = await startSimulatedPlatform('e2emodel', ingestion.env);
});
test.afterAll(async () => {
  await platform?.stop();
  ingestion?.close();
});

test('a visitor sees what a model fits, how fast it is there and what that costs', async ({ page }) => {
  await page.goto(`${platform.url}/models/llama-3.1-8b-instruct`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(LLAMA.name);

  await test.step('its facts name their sources', async () => {
    await page.getByText('Sources', { exact: true }).first().click();
    const [first] = LLAMA.source as { repo: string; note: string }[];
    await expect(page.getByText(first!.repo).first()).toBeVisible();
    await expect(page.getByText(first!.note)).toBeVisible();
    await expect(page.getByRole('link', { name: LLAMA.id }).first()).toHaveAttribute('rel', /noopener/);
  });

  await test.step('each cell is the least number of GPUs, those that can be rented here first', async () => {
    const cells = await expectCells(page, { context: 8192 });
    await page.getByRole('button', { name: 'Show all 39 GPUs' }).click();
    await expect(page.locator('tr[data-testid^="gpu-"]')).toHaveCount(gpus.length);
    const all = await expectCells(page, { context: 8192 });
    await page.getByRole('button', { name: '128K' }).click();
    const long = await expectCells(page, { context: 131_072 });
    console.log(`cells of the matrix: n = ${cells + all + long}`);
    const first = page.locator('tr[data-testid^="gpu-"]').first();
    await expect(first.getByText('STAGI/h')).toBeVisible();
    await expect(first.getByText('Simulated', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: '8K', exact: true }).click();
  });

  await test.step('a cell is chosen with the keys', async () => {
    await page.getByTestId('gpu-l4').getByRole('button', { pressed: true }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const chosen = page.getByTestId('gpu-a100-pcie-80').getByRole('button', { pressed: true });
    await expect(chosen).toHaveAccessibleName(`${LLAMA.name} in XL on A100 PCIe 80GB: 1 GPU`);
    await expect(page).toHaveURL(/gpu=a100-pcie-80&quality=XL/);
    const told = () => ingestion.told.filter(({ event_type }) => event_type === 'gpu_quality_selected_models').length;
    await expect.poll(told, DEADLINE).toBe(1);
    await page.getByTestId('gpu-l4').getByRole('button').last().click();
    await expect.poll(told, DEADLINE).toBe(2);
  });

  await test.step('memory follows context and sequences', async () => {
    await expectMemory(page, { context: 8192, batch: 1 });
    await page.getByRole('button', { name: '32K' }).click();
    await expectMemory(page, { context: 32_768, batch: 1 });
    await page.getByTestId('choice-batch').fill('2');
    await expectMemory(page, { context: 32_768, batch: 2 });
    await page.getByTestId('memory').getByRole('button', { name: 'Quality XL' }).click();
    await expect(page.getByTestId('verdict')).toContainText('in XL on 1 × L4 24GB fits');
    await page.goto(`${platform.url}/models/llama-3.1-8b-instruct?gpu=l4`);
  });

  await test.step('speed follows the load', async () => {
    await expectSpeed(page, { clients: 8 });
    await page.getByTestId('choice-clients').fill('2');
    await expectSpeed(page, { clients: 2 });
    await page.getByTestId('choice-clients').fill('0');
    await expect(page.getByText('From 1 to 4,096').first()).toBeVisible();
    await expectSpeed(page, { clients: 2 });
    await page.getByText('Requests', { exact: true }).click();
    await page.getByTestId('choice-rate').fill('0.5');
    await expectSpeed(page, { perSecond: 0.5 });
    await page.getByTestId('choice-rate').fill('50');
    await expect(page.getByTestId('not-predicted')).toContainText('Overload');
    await expect(page.getByTestId('speed').getByTestId(/-value$/)).toHaveCount(0);
    await page.getByText('Clients', { exact: true }).click();
    await expectSpeed(page, { clients: 2 });
  });

  await test.step('offers are ranked by what a million tokens cost', async () => {
    const costs = (['a100-pcie-80', 'l4', 'h100-pcie'] as const).map((id) => offerOf(id));
    costs.sort((a, b) => a.cost - b.cost);
    const rows = page.getByTestId('ranked-offer');
    await expect(rows).toHaveCount(3);
    for (const [index, { cost, tpot }] of costs.entries()) {
      await expect(rows.nth(index)).toContainText(priceText(english, cost));
      await expect(rows.nth(index)).toContainText(secondsText(english, tpot));
      await expect(rows.nth(index)).toContainText('Simulated');
      await expect(rows.nth(index)).toContainText('Met');
    }
    await page.getByTestId('choice-tpot').fill('1');
    await expect(rows.getByText('Missed')).toHaveCount(3, DEADLINE);
  });
  await expectAccessible(page, 'a model');
});

/** The text of a key of the app in English, with its values. */
const english = (text: string, values: Record<string, string | number> = {}): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name]));

/** Compares every cell that is listed with the formulas. */
async function expectCells(page: Page, { context }: { context: number }): Promise<number> {
  const files = filesOf(LLAMA);
  const wanted = (id: string) =>
    QUALITIES.map((quality) => {
      const file = fileOf(files, quality)!;
      const { count, fit } = leastGpus({
        model: LLAMA,
        gpu: gpuOf(id),
        file,
        context,
        batch: 1,
        engine: engineOf(file),
      });
      return count === null ? REASONS[fit.reason!] : count === 1 ? '1 GPU' : `${count} GPUs`;
    });
  const read = () =>
    page.locator('tr[data-testid^="gpu-"]').evaluateAll((rows) =>
      rows.map((row) => ({
        id: (row as HTMLElement).dataset.testid!.replace('gpu-', ''),
        cells: [...row.querySelectorAll('td')].map((cell) => cell.textContent!.trim()),
      })),
    );
  await expect(page.getByTestId('gpu-l4')).toBeVisible();
  await expect
    .poll(async () => (await read()).map(({ id, cells }) => [id, cells]), DEADLINE)
    .toEqual((await read()).map(({ id }) => [id, wanted(id)]));
  return (await read()).length * QUALITIES.length;
}

const REASONS: Record<string, string> = {
  weights: 'Too large',
  cache: 'Cache too large',
  context: 'Context too long',
  heads: 'Heads do not divide',
};

async function expectMemory(page: Page, { context, batch }: { context: number; batch: number }): Promise<void> {
  const file = fileOf(filesOf(LLAMA), 'original')!;
  const fit = fits({
    model: LLAMA,
    gpu: gpuOf('l4'),
    count: 1,
    precision: file.precision,
    context,
    batch,
    engine: engineOf(file),
  });
  for (const part of ['weights', 'cache', 'activations', 'runtime', 'budget'] as const)
    await expect(page.getByTestId(`memory-${part}`)).toContainText(formatBytes(fit.parts[part]));
  await expect(page.getByTestId('verdict')).toContainText(fit.fits ? ' fits.' : 'does not fit');
}

async function expectSpeed(page: Page, load: Load): Promise<void> {
  const { tpot, rate } = predictOn('l4', load);
  if (!isEstimate(tpot) || !isEstimate(rate)) throw new Error('nothing is predicted');
  await expect(page.getByTestId('tpot-value')).toHaveText(secondsText(english, tpot.value));
  await expect(page.getByTestId('tpot')).toContainText(`from ${tpot.n} measurements`);
  await expect(page.getByTestId('tpot')).toContainText(`±${Math.round(tpot.error * 100)} %`);
  await expect(page.getByTestId('rate-value')).toHaveText(rateText(english, rate.value));
  const cost = costPerMillion(PRICES.l4.price, rate.value);
  await expect(page.getByTestId('cost-value')).toHaveText(priceText(english, cost));
}

/** What the simulated cloud asks for, in STAGI per hour. */
const PRICES = {
  l4: { price: 0.805, count: 1 },
  'a100-pcie-80': { price: 2.185, count: 1 },
  'h100-pcie': { price: 27.6, count: 8 },
};

function offerOf(gpu: keyof typeof PRICES): { cost: number; tpot: number } {
  const { price, count } = PRICES[gpu];
  const { rate, tpot } = predictOn(gpu, { clients: 2 }, 'original', count);
  if (!isEstimate(rate) || !isEstimate(tpot)) throw new Error('nothing is predicted');
  return { cost: costPerMillion(price, rate.value), tpot: tpot.value };
}
