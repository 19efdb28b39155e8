import { expect, it } from 'vitest';
import { isSamePage } from './prerenderedPages.ts';

const model = { about: 'meta-llama/Llama-3.1-8B-Instruct', answers: [] };

it('takes the page of a model for the same unless the address names another one', () => {
  for (const search of [
    '',
    '?gpu=l4',
    '?id=meta-llama%2FLlama-3.1-8B-Instruct',
    '?gpu=l4&id=meta-llama/Llama-3.1-8B-Instruct',
  ])
    expect(isSamePage(model, search), search).toBe(true);
  for (const search of ['?id=deepseek-ai%2FDeepSeek-V3', '?id=', '?gpu=l4&id=x'])
    expect(isSamePage(model, search), search).toBe(false);
});

it('takes no other page with a query for the same', () => {
  expect(isSamePage({ answers: [] }, '?task=code')).toBe(false);
  expect(isSamePage(null, '?returnUrl=%2F')).toBe(false);
  expect(isSamePage(null, '')).toBe(true);
});
