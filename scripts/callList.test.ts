import { everyCall } from '@stagi/contract/api.ts';
import { expect, it } from 'vitest';
import { callList, changesOfCalls } from './callList.ts';

it('has a line for each call', () => {
  const lines = callList().trimEnd().split('\n');
  expect(lines).toHaveLength(everyCall().length);
  for (const line of lines) expect(line).toMatch(/^[a-z0-9/-]+ [\w|-]+ (token|app|-) (step-up|-) [0-9a-f]{8}$/);
});

it('says which calls are others than before, and in what', () => {
  const before = 'a/view member token - 11111111\nb/list VIEW - - 22222222\nc/edit EDIT - - 33333333\n';
  const after = 'a/view member - step-up 11111111\nb/list VIEW|EDIT - - 99999999\nd/add EDIT token - 44444444\n';
  expect(changesOfCalls(before, after)).toEqual([
    'changed  a/view: by token token → -, step-up - → step-up',
    'changed  b/list: right VIEW → VIEW|EDIT, input or answer',
    'added    d/add: EDIT token -',
    'removed  c/edit',
  ]);
  expect(changesOfCalls(after, after)).toEqual([]);
});
