import { MENU, WHOLE_MENU } from '@stagi/contract/menu.ts';
import { ROLES } from '@stagi/contract/permissions.ts';
import { pageExists, ROUTES } from '@stagi/contract/routes.ts';
import { expect, it } from 'vitest';
import { daysLeft } from './daysLeft.ts';
import { initials } from './initials.ts';
import { among, listAddress } from './listAddress.ts';
import { isShown, opens } from './menuGate.ts';
import { matching } from './palette/match.ts';
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
  expect(isShown(blog, { ...viewer, permissions: ['BASIC_ACTIONS'] })).toBe(false);
  expect(isShown(blog, { ...viewer, permissions: ['SELFHOSTED_INSTANCE'] })).toBe(true);
  expect(opens(ROUTES.account, [])).toBe(true);
  expect(opens(ROUTES.instances, ['INSTANCE_RENTED'])).toBe(false);
});

it('finds by every word typed, the beginning of a word before its middle, without case and accents', () => {
  const found = (query: string, ...texts: string[]) => matching(texts, query, (one) => [one]);
  expect(found('con', 'Beacon', 'Own container', 'Containers')).toEqual(['Containers', 'Own container', 'Beacon']);
  expect(found('key ssh', 'SSH keys', 'Keyboard')).toEqual(['SSH keys']);
  expect(found('turkce', 'Türkçe')).toEqual(['Türkçe']);
  expect(found('ТЕМ', 'Тёмная тема', 'Язык')).toEqual(['Тёмная тема']);
  expect(found('a.b(', 'a.b(c', 'axb(c')).toEqual(['a.b(c']);
  expect(found('', 'a', 'b')).toEqual(['a', 'b']);
});

it('reads of an address the values of a filter, and those that it knows', () => {
  const { values } = listAddress(new URLSearchParams('role=Guest,Emperor,Owner,'));
  expect(values('role')).toEqual(['Guest', 'Emperor', 'Owner']);
  expect(among(values('role'), ROLES)).toEqual(['Owner', 'Guest']);
  expect(values('plan')).toEqual([]);
});
