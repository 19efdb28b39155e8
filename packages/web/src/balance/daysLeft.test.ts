import { expect, it } from 'vitest';
import { daysLeft } from './daysLeft.ts';

it('shows the days left only in the last two weeks', () => {
  expect(daysLeft(null, '50')).toBeNull();
  expect(daysLeft(15, '50')).toBeNull();
  expect(daysLeft(14.9, '50')).toEqual({ is: 'days', count: 14 });
  expect(daysLeft(1, '50')).toEqual({ is: 'days', count: 1 });
  expect(daysLeft(0.4, '0.01')).toEqual({ is: 'under a day' });
  expect(daysLeft(0, '0.00')).toEqual({ is: 'none' });
});
