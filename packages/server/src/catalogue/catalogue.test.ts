import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { isEstimate } from '@stagi/perf/predict.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CloudApp, startCloudApp } from '../testing/cloudApp.ts';

let app: CloudApp;
beforeAll(async () => {
  app = await startCloudApp();
});
afterAll(() => app?.close());

const LLAMA = { id: 'meta-llama/Llama-3.1-8B-Instruct' };
const list = (input: InputOf<typeof api.models.list> = {}) => app.anonymous(api.models.list, input);
const idsOf = async (input: InputOf<typeof api.models.list>) => (await list(input)).entities.map(({ id }) => id);
const fit = async (input: Partial<InputOf<typeof api.models.fit>> = {}) =>
  (await app.anonymous(api.models.fit, { modelRef: LLAMA, ...input })).entity;

describe('the list of models', () => {
  it('shows visitors all models, the newest first, page by page', async () => {
    const first = await list();
    expect([first.totalCount, first.entities.length]).toEqual([models.length, 24]);
    const released = first.entities.map(({ releasedAt }) => releasedAt ?? '');
    expect(released).toEqual(released.toSorted().toReversed());
    const pages = Array.from({ length: first.totalPages }, (_, index) => index + 1);
    const all = await Promise.all(pages.map((page) => idsOf({ entityFilterRequest: { page } })));
    expect(new Set(all.flat()).size).toBe(models.length);
  });

  it('finds by words, in any order, and takes signs literally', async () => {
    expect(await idsOf({ entityFilterRequest: { queryString: '8b llama 3.1' } })).toEqual([LLAMA.id]);
    expect(await idsOf({ entityFilterRequest: { queryString: '%' } })).toEqual([]);
    expect(await idsOf({ entityFilterRequest: { queryString: '.*' } })).toEqual([]);
  });

  it('filters by each facet as often as the facet says', async () => {
    const facets = await app.anonymous(api.models.facets, {});
    expect(facets.total).toBe(models.length);
    for (const { value, count } of facets.tasks)
      expect.soft((await list({ filters: { tasks: [value] } })).totalCount, value).toBe(count);
    for (const { value, count } of facets.publishers)
      expect.soft((await list({ filters: { publishers: [value] } })).totalCount, value).toBe(count);
    for (const { value, count } of facets.licences)
      expect.soft((await list({ filters: { licences: [value] } })).totalCount, value).toBe(count);
  });

  it('filters by size, context, quality and what fits a GPU', async () => {
    const small = await list({ filters: { maxParameters: 10e9, minContext: 100_000 } });
    expect(small.totalCount).toBeGreaterThan(3);
    expect(
      small.entities.every(({ parameters, contextLength }) => parameters.total <= 10e9 && contextLength! >= 1e5),
    ).toBe(true);
    const onL4 = await idsOf({ filters: { gpu: 'l4' }, entityFilterRequest: { limit: 100 } });
    const onFour = await idsOf({ filters: { gpu: 'l4', gpuCount: 4 }, entityFilterRequest: { limit: 100 } });
    expect(onL4).toContain(LLAMA.id);
    expect(onL4).not.toContain('deepseek-ai/DeepSeek-V3');
    expect(onFour.length).toBeGreaterThan(onL4.length);
    const exact = await idsOf({ filters: { gpu: 'l4', quality: 'original' }, entityFilterRequest: { limit: 100 } });
    expect(exact.length).toBeLessThan(onL4.length);
    expect(onL4).toEqual(expect.arrayContaining(exact));
  });

  it('refuses a GPU that it does not know, and an order that it does not have', async () => {
    await expect(list({ filters: { gpu: 'gtx-1080' } })).rejects.toMatchObject({
      status: 400,
      body: { fieldsWithError: ['filters.gpu'], message: 'This GPU is not in the catalogue' },
    });
    await expect(list({ entityFilterRequest: { orderByField: 'rating' as 'name' } })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('a model', () => {
  it('is found by its name and by its repository, with files and sources', async () => {
    const { entity } = await app.anonymous(api.models.view, { name: 'llama-3.1-8b-instruct' });
    expect(entity).toEqual((await app.anonymous(api.models.view, LLAMA)).entity);
    expect(entity).toMatchObject({ publisher: 'Meta', qualities: ['S', 'M', 'L', 'XL', 'original'], change: null });
    expect(entity.files.find(({ quality }) => quality === 'original')).toMatchObject({ repository: LLAMA.id });
    expect(entity.entry.source.length).toBeGreaterThan(0);
    await expect(app.anonymous(api.models.view, { name: 'no-such-model' })).rejects.toMatchObject({ status: 404 });
  });

  it('has an address of its own', async () => {
    const all = await Promise.all([1, 2].map((page) => list({ entityFilterRequest: { limit: 100, page } })));
    const names = all.flatMap(({ entities }) => entities.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^[a-z0-9][a-z0-9.-]*$/.test(name))).toBe(true);
  });
});

describe('what fits where', () => {
  it('ranks the offers of all clouds by the price of a million tokens', async () => {
    const { offers, counts } = await fit();
    expect(counts).toEqual({ all: 3, fitting: 3, unknown: 0 });
    expect(offers.map(({ gpu }) => gpu.id).toSorted()).toEqual(['a100-pcie-80', 'h100-pcie', 'l4']);
    const told = offers.filter(({ meetsGoal }) => meetsGoal);
    expect(told.length).toBeGreaterThan(0);
    const costs = told.map(({ cost }) => Number(cost!.decimalValue));
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    for (const { prediction, cost, offer } of told) {
      if (!isEstimate(prediction.rate as never)) continue;
      const rate = (prediction.rate as { value: number }).value;
      const hourly = Number(offer.pricePerHour.STAGI.decimalValue);
      expect(Number(cost!.decimalValue)).toBeCloseTo(((hourly / 3600) * 1e6) / rate, 5);
    }
    expect(offers.every(({ offer }) => offer.simulated)).toBe(true);
  });

  it('names the cheapest offer of each GPU, also of those that a model does not fit', async () => {
    const { offers, cheapest, counts } = await fit({ modelRef: { id: 'deepseek-ai/DeepSeek-V3' } });
    expect(counts.fitting).toBe(0);
    expect(cheapest.map(({ gpu }) => gpu).toSorted()).toEqual(['a100-pcie-80', 'h100-pcie', 'l4']);
    for (const { gpu, count, offer } of cheapest) {
      const same = offers.filter((ranked) => ranked.gpu.id === gpu && ranked.offer.gpu!.count === count);
      const prices = same.map((ranked) => Number(ranked.offer.pricePerHour.STAGI.decimalValue));
      expect(Number(offer.pricePerHour.STAGI.decimalValue)).toBe(Math.min(...prices));
    }
  });

  it('judges one GPU with a file of the quality, and says why a model does not fit', async () => {
    const { onGpu, file, engine } = await fit({ gpu: { id: 'h100-sxm' } });
    expect([file.precision, engine, onGpu!.prediction.memory.fits]).toEqual(['bf16', 'vllm', true]);
    expect(onGpu!.prediction.tpot).toMatchObject({ n: expect.any(Number) });
    const large = await fit({ modelRef: { id: 'meta-llama/Llama-3.3-70B-Instruct' }, gpu: { id: 'l4' } });
    expect(large.onGpu!.prediction).toMatchObject({
      memory: { fits: false, reason: 'weights' },
      tpot: 'does not fit',
      rate: 'does not fit',
    });
    const packed = await fit({ quality: 'M', format: 'gguf', gpu: { id: 'l4' } });
    expect([packed.file.variant, packed.engine]).toEqual(['Q4_K_M', 'llama.cpp']);
  });

  it('puts offers that miss the goal behind those that meet it', async () => {
    const loose = await fit({ goal: { tpot: 10 } });
    const strict = await fit({ goal: { tpot: 0.001 } });
    expect(loose.offers.some(({ meetsGoal }) => meetsGoal)).toBe(true);
    expect(strict.offers.every(({ meetsGoal }) => meetsGoal !== true)).toBe(true);
  });

  it.each<[Partial<InputOf<typeof api.models.fit>>, string, string]>([
    [{ gpu: { id: 'gtx-1080' } }, 'gpu.id', 'This GPU is not in the catalogue'],
    [{ modelRef: { id: 'BAAI/bge-m3' }, quality: 'S' }, 'quality', 'Nobody publishes files of this quality'],
  ])('refuses %j at %s', async (input, field, message) => {
    await expect(fit(input)).rejects.toMatchObject({ status: 400, body: { fieldsWithError: [field], message } });
  });

  it('is limited by address', async () => {
    let refusals = 0;
    for (let tries = 0; tries < 130 && refusals === 0; tries += 1)
      await fit().catch((error: { status?: number }) => {
        if (error.status !== 429) throw error;
        refusals += 1;
      });
    expect(refusals).toBe(1);
  });
});
