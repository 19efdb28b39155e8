import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { expect, it } from 'vitest';
import { parentRoutes } from './useRoute.ts';

it('finds the breadcrumbs of a page, outermost first', () => {
  expect(parentRoutes(ROUTES.instance).map(({ path }) => path)).toEqual(['/cloud', '/cloud/instances']);
  expect(parentRoutes(ROUTES.home)).toEqual([]);
});

it('has breadcrumbs for every page, which begin at the start page or at a section', () => {
  const starts = ['/', '/cloud', '/projects', '/profile', '/admin', '/kit'];
  for (const route of Object.values<Route>(ROUTES)) {
    expect(route.title, route.path).not.toBe('');
    if (route.parent === null) expect.soft(starts, route.path).toContain(route.path);
    else {
      const above = parentRoutes(route).map(({ path }) => path);
      expect.soft(above.at(-1), route.path).toBe(route.parent);
      expect.soft(starts, route.path).toContain(above[0]);
    }
  }
});
