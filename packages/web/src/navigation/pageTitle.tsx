import { BRAND } from '@stagi/contract/brand.ts';
import { useEffect, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { Breadcrumbs as Crumbs } from '../ui/Breadcrumbs.tsx';
import { parentRoutes, useRoute } from './useRoute.ts';

let given: { path: string; title: string } | null = null;
const listeners = new Set<() => void>();

/** Sets the title of an entity's page: the last breadcrumb and the browser's tab show it. */
export function usePageTitle(title: string | undefined): void {
  const { pathname } = useLocation();
  useEffect(() => {
    if (title === undefined) return;
    tell({ path: pathname, title });
    return () => tell(null);
  }, [pathname, title]);
}

/** The same before the first render: the page was prerendered with its title. */
export function beginWithTitle(path: string, title: string): void {
  given = { path, title };
}

function tell(next: typeof given): void {
  given = next;
  for (const listener of listeners) listener();
}

const titleAt = (pathname: string): string | null => (given?.path === pathname ? given.title : null);

function useOwnTitle(): string {
  const t = useT();
  const route = useRoute();
  const { pathname } = useLocation();
  const named = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => titleAt(pathname),
    () => titleAt(pathname),
  );
  return named ?? t(route.title);
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
  const above = [...parentRoutes(route), ...(isBelow ? [route] : [])];
  if (above.length === 0) return null;
  return <Crumbs above={above.map(({ path, title }) => ({ to: path, title: t(title) }))} here={title} link={Link} />;
}
