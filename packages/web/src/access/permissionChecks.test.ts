import { MENU, WHOLE_MENU } from '@stagi/contract/menu.ts';
import { pageExists, ROUTES } from '@stagi/contract/routes.ts';
import { expect, it } from 'vitest';
import { canOpen, isMenuItemShown } from './permissionChecks.ts';

it('lists Home only in the mobile menu of visitors', () => {
  const home = MENU.find((item) => item.testId === 'menu-home');
  if (!home) throw new Error('the menu has no Home');
  expect(isMenuItemShown(home, { mobile: true, anonymous: true, permissions: [] })).toBe(true);
  expect(isMenuItemShown(home, { mobile: true, anonymous: false, permissions: [] })).toBe(false);
  expect(isMenuItemShown(home, { mobile: false, anonymous: true, permissions: [] })).toBe(false);
});

it('lists only pages that exist, and Blog only with a permission of the cloud', () => {
  expect(MENU.every(({ route }) => pageExists(route))).toBe(true);
  expect(WHOLE_MENU.map(({ name }) => name)).toEqual([
    'Home',
    'Models',
    'Cloud',
    'Projects',
    'Docs',
    'Blog',
    'Contact Us',
  ]);
  const blog = WHOLE_MENU.find(({ name }) => name === 'Blog');
  if (!blog) throw new Error('the menu has no Blog');
  const viewer = { mobile: false, anonymous: false };
  expect(isMenuItemShown(blog, { ...viewer, permissions: ['BASIC_ACTIONS'] })).toBe(false);
  expect(isMenuItemShown(blog, { ...viewer, permissions: ['SELFHOSTED_INSTANCE'] })).toBe(true);
  expect(canOpen(ROUTES.account, [])).toBe(true);
  expect(canOpen(ROUTES.instances, ['INSTANCE_RENTED'])).toBe(false);
});
