import type { Permission } from '@stagi/contract/permissions.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { useMatches } from 'react-router';
import type { FirstReads } from './prefetch.ts';

/** What every page of routes.tsx carries as its handle. */
export interface PageHandle {
  route: Route;
  /** What is fetched ahead where a link to the page is pointed at. */
  reads?: FirstReads;
  /** For an address that only leads to another. */
  leadsTo?(permissions: readonly Permission[]): string;
}

const UNKNOWN: Route = { path: '*', layout: 'default', public: true, footer: true, title: 'Page not found' };

/** The entry of the contract's table for the page on screen. */
export function useRoute(): Route {
  const handle = useMatches().at(-1)?.handle as PageHandle | undefined;
  return handle?.route ?? UNKNOWN;
}

/** The routes above one, outermost first: its breadcrumbs without itself. */
export function ancestors(route: Route): Route[] {
  const above: Route | undefined = Object.values<Route>(ROUTES).find(({ path }) => path === route.parent);
  return above ? [...ancestors(above), above] : [];
}
