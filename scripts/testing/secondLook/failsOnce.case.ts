import { expect, it } from 'vitest';
import { isFirst } from './once.ts';

it('fails once', () => {
  console.log('numbers: seed 4711, n = 1');
  expect(isFirst('fails once')).toBe(false);
});
