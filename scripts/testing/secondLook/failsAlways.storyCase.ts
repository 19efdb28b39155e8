import { expect, test } from '@playwright/test';

test('a story fails always', () => {
  expect(1).toBe(2);
});
