import { BRAND } from '@stagi/contract/brand.ts';
import { useEffect, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { Breadcrumbs as Crumbs } from '../ui/Breadcrumbs.tsx';
import { parentRoutes, useRoute } from './useRoute.ts';

export interface Crumb {
  to: string;
  title: string;
}

interface Given {
  path: string;
  title: string;
  above?: Crumb | undefined;
}

let given: Given | null = null;
const listeners = new Set<() => void>();

/**
 * Sets the title of an entity's page: the last breadcrumb and the browser's tab show it. `above`: the thing that it belongs
 * to, where that has a page and no route of the table says which.
 */
export function usePageTitle(title: string | undefined, above?: Crumb): void {
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: of a crumb its parts, as it is made anew at each render
  useEffect(() => {
    if (title === undefined) return;
    tell({ path: pathname, title, above });
    return () => tell(null);
  }, [pathname, title, above?.to, above?.title]);
}

/** The same before the first render: the page was prerendered with its title. */
export function beginWithTitle(path: string, title: string): void {
  given = { path, title };
}

function tell(next: Given | null): void {
  given = next;
  for (const listener of listeners) listener();
}

function useGiven(): Given | null {
  const { pathname } = useLocation();
  const read = () => (given?.path === pathname ? given : null);
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    read,
    read,
  );
}

function useOwnTitle(): string {
  const t = useT();
  const route = useRoute();
  return useGiven()?.title ?? t(route.title);
}

export function DocumentTitle() {
  const title = useOwnTitle();
  const route = useRoute();
  return <title>{route.layout === 'home' ? BRAND : `${title} · ${BRAND}`}</title>;
}

/** The way from the section to this page. A post is below the page of all posts, which shares its route. */
export function Breadcrumbs() {
  const t = useT();
  const route = useRoute();
  const title = useOwnTitle();
  const { pathname } = useLocation();
  const isBelow = route.rest && pathname.startsWith(`${route.path}/`) && title !== t(route.title);
  const ofPage = useGiven()?.above;
  const routes = [...parentRoutes(route), ...(isBelow ? [route] : [])];
  const above = [...routes.map(({ path, title }) => ({ to: path, title: t(title) })), ...(ofPage ? [ofPage] : [])];
  // The page of a section stands alone: its name says where one is.
  if (above.length === 0 && route.layout === 'home') return null;
  // The tab of the browser names the thing and its part; here the thing has a crumb of its own.
  const here = ofPage ? title.replace(`${ofPage.title} · `, '') : title;
  return <Crumbs above={above} here={here} link={Link} />;
}
