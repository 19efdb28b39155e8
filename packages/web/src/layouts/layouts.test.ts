import { MENU } from '@stagi/contract/menu.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { expect, it } from 'vitest';
import { daysLeft } from './daysLeft.ts';
import { initials } from './initials.ts';
import { isShown } from './menuGate.ts';
import { ancestors } from './useRoute.ts';

it('shows the days left only in the last two weeks', () => {
  expect(daysLeft(null, '50')).toBeNull();
  expect(daysLeft(15, '50')).toBeNull();
  expect(daysLeft(14.9, '50')).toEqual({ is: 'days', count: 14 });
  expect(daysLeft(1, '50')).toEqual({ is: 'days', count: 1 });
  expect(daysLeft(0.4, '0.01')).toEqual({ is: 'under a day' });
  expect(daysLeft(0, '0.00')).toEqual({ is: 'none' });
});

it('lists Home only in the mobile menu of visitors', () => {
  const home = MENU.find((item) => item.testId === 'menu-home');
  if (!home) throw new Error('the menu has no Home');
  expect(isShown(home, { mobile: true, anonymous: true, permissions: [] })).toBe(true);
  expect(isShown(home, { mobile: true, anonymous: false, permissions: [] })).toBe(false);
  expect(isShown(home, { mobile: false, anonymous: true, permissions: [] })).toBe(false);
});

it('finds the breadcrumbs of a page, outermost first', () => {
  expect(ancestors(ROUTES.instance).map(({ path }) => path)).toEqual(['/cloud', '/cloud/instances']);
  expect(ancestors(ROUTES.home)).toEqual([]);
});

it('makes initials of names in any script', () => {
  expect(initials('Ada Lovelace')).toBe('AL');
  expect(initials('  Жанна  д’Арк ')).toBe('ЖД');
  expect(initials('王')).toBe('王');
  expect(initials('')).toBe('');
});
