import { type ComponentType, createElement } from 'react';
import { matchRoutes, type RouteObject } from 'react-router';
import { guardRoute } from '../access/routeGuard.ts';
import { queryClient } from '../api/query.ts';
import { cachedVisitor } from '../api/user.ts';
import type { FirstReads, PageHandle, Visit } from './pageHandle.ts';

/** A pointer that only passes over a link prefetches nothing. */
const DWELL_MS = 40;
/** Prefetched data younger than this is not fetched again. */
const FRESH_MS = 30_000;
/** How many redirects are followed. */
const HOPS = 3;

let map: RouteObject[] = [];

/** Prefetches the page of each link that is pointed at, touched or focused. `routes` is the router's map. */
export function watchLinksToPrefetch(routes: RouteObject[]): void {
  map = routes;
  let over: Element | null = null;
  let dwelling = 0;

  const dwell = ({ target }: Event): void => {
    const link = linkOf(target);
    if (link === over) return;
    leave();
    if (!link) return;
    over = link;
    dwelling = window.setTimeout(() => prefetch(link.href), DWELL_MS);
  };
  const leave = (): void => {
    window.clearTimeout(dwelling);
    over = null;
  };
  const press = ({ target }: Event): void => {
    const link = linkOf(target);
    if (link) prefetch(link.href);
  };
  document.addEventListener('pointerover', dwell);
  document.addEventListener('focusin', dwell);
  document.addEventListener('touchstart', press, { passive: true });
  document.addEventListener('mousedown', press);
}

/** Prefetches the code and the first data of a page. Failures are silent: the page itself will show them. */
export function prefetch(address: string): void {
  const url = new URL(address, window.location.href);
  if (url.origin !== window.location.origin || savesData()) return;
  for (const fetched of fetching(url, HOPS))
    fetched.catch((cause: unknown) => console.debug(`${url.pathname} could not be fetched ahead`, cause));
}

function fetching(url: URL, hops: number): Promise<unknown>[] {
  const matches = matchRoutes(map, url.pathname) ?? [];
  const last = matches.at(-1);
  const handle = last?.route.handle as PageHandle | undefined;
  if (!last || !handle) return [];
  const visitor = cachedVisitor();
  const verdict = guardRoute(handle.route, visitor, url);
  const to = verdict.outcome === 'redirect' ? verdict.to : handle.leadsTo?.(visitor.permissions, last.params);
  if (to !== undefined) return hops === 0 ? [] : fetching(new URL(to, url), hops - 1);
  const code = matches.map(({ route }) => loadRoute(route));
  if (verdict.outcome !== 'allow' || !handle.reads) return code;
  return [
    ...code,
    readAhead(handle.reads, {
      pathname: url.pathname,
      params: last.params,
      search: url.searchParams,
      permissions: visitor.permissions,
    }),
  ];
}

/** Loads a lazy route in place, so that the router renders it at once, without a pending navigation. */
export async function loadRoute(route: RouteObject): Promise<void> {
  const { lazy } = route;
  if (typeof lazy !== 'function') return;
  const { Component } = (await lazy()) as { Component: ComponentType };
  if (route.lazy === lazy) Object.assign(route, { element: createElement(Component), lazy: undefined });
}

async function readAhead(reads: FirstReads, visit: Visit): Promise<void> {
  const wanted = await reads(visit);
  await Promise.all(wanted.map((read) => queryClient.prefetchQuery({ ...read, staleTime: FRESH_MS })));
}

function linkOf(target: EventTarget | null): HTMLAnchorElement | null {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  return link && !link.download && link.target !== '_blank' ? link : null;
}

/** The browser's data saver, where the browser reports it. */
function savesData(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
