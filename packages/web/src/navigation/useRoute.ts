import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { text } from '@stagi/contract/text.ts';
import { useMatches } from 'react-router';
import type { PageHandle } from './pageHandle.ts';

const UNKNOWN: Route = {
  path: '*',
  layout: 'default',
  public: true,
  footer: true,
  title: text('Page not found'),
  parent: ROUTES.home.path,
};

/** The entry of the contract's table for the page on screen. */
export function useRoute(): Route {
  const handle = useMatches().at(-1)?.handle as PageHandle | undefined;
  return handle?.route ?? UNKNOWN;
}

/** The routes above one, outermost first: its breadcrumbs without itself. */
export function parentRoutes(route: Route): Route[] {
  const above: Route | undefined = Object.values<Route>(ROUTES).find(({ path }) => path === route.parent);
  return above ? [...parentRoutes(above), above] : [];
}
