import { ROUTES } from '@stagi/contract/routes.ts';
import { expect, it } from 'vitest';
import { parentRoutes } from './useRoute.ts';

it('finds the breadcrumbs of a page, outermost first', () => {
  expect(parentRoutes(ROUTES.instance).map(({ path }) => path)).toEqual(['/cloud', '/cloud/instances']);
  expect(parentRoutes(ROUTES.home)).toEqual([]);
});
