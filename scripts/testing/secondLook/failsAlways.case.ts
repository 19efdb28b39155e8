import { expect, it } from 'vitest';

it('fails always', () => {
  expect(new Error('seen', { cause: new Error('the reason beneath') })).toBeNull();
});

it('throws what has a cause', () => {
  throw new Error('above', { cause: new Error('the reason beneath') });
});
