import { expect, test } from '@playwright/test';
import { isFirst } from './once.ts';

test('a story fails once', () => {
  expect(isFirst('story fails once')).toBe(false);
});
