import { models } from '@stagi/perf/catalogueFiles.ts';
import { expect, it } from 'vitest';
import { draftOfEntry, fieldsOf } from './draft.ts';
import { previewOf } from './preview.ts';

const LLAMA = draftOfEntry(models.find(({ id }) => id === 'meta-llama/Llama-3.1-8B-Instruct'));

it('computes weights by quality and the cache, and sees a slip of three zeros', () => {
  const preview = previewOf(LLAMA.modelId, fieldsOf(LLAMA))!;
  expect(preview.weights.map(({ quality }) => quality)).toEqual(['original', 'XL', 'L', 'M', 'S']);
  expect(preview.weights[0]!.bytes / 1e9).toBeCloseTo(16.06, 2);
  // 2 · 32 layers · 8 KV heads · 128 · 2 bytes for each of 8,192 tokens.
  expect(preview.cacheBytes).toBe(2 * 32 * 8 * 128 * 2 * 8192);
  expect(preview.contradiction).toBeNull();
  const slipped = { ...LLAMA, parameters: { total: '8030261', active: '' } };
  expect(previewOf(LLAMA.modelId, fieldsOf(slipped))!.contradiction?.kind).toBe('too few parameters');
});

it('takes files of the own repository for the original ones, whatever is typed as repository so far', () => {
  const fp8 = { ...LLAMA, precisions: [{ ...LLAMA.precisions[0]!, precision: 'fp8', repository: 'a/b' }] };
  const qualities = (modelId: string) => previewOf(modelId, fieldsOf(fp8))!.weights.map(({ quality }) => quality);
  expect(qualities(' a/b ')).toEqual(['original']);
  expect(qualities('a')).toEqual(['XL']);
});

it('does not wait for the repositories', () => {
  const [file] = LLAMA.precisions;
  const typed = { ...LLAMA, precisions: ['', 'acme/', '-a/b'].map((repository) => ({ ...file!, repository })) };
  expect(previewOf('acme/', fieldsOf(typed))!.weights.map(({ quality }) => quality)).toEqual(['original']);
});

it('waits for numbers that are complete', () => {
  for (const total of ['', '0', '8B', '1.5'])
    expect(previewOf('a/b', fieldsOf({ ...LLAMA, parameters: { total, active: '' } })), total).toBeNull();
  expect(previewOf('a/b', fieldsOf({ ...LLAMA, heads: '', parameters: { total: '7', active: '' } }))).toMatchObject({
    cacheBytes: null,
  });
});
