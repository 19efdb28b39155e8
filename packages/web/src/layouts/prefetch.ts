import type { FetchQueryOptions } from '@tanstack/react-query';
import { type ComponentType, createElement } from 'react';
import { matchRoutes, type Params, type RouteObject } from 'react-router';
import { queryClient } from '../api/query.ts';
import { knownVisitor } from '../api/user.ts';
import { guard } from './guard.ts';
import type { PageHandle } from './useRoute.ts';

/** An address that may be gone to next. */
export interface Visit {
  params: Params;
  search: URLSearchParams;
}

/** What a page reads before it can show anything. */
export type FirstReads = (visit: Visit) => readonly FirstRead[] | Promise<readonly FirstRead[]>;
// biome-ignore lint/suspicious/noExplicitAny: the options of a query of whatever call
export type FirstRead = FetchQueryOptions<any, Error, any, any>;

/** Who only passes over a link on the way to another does not mean it. */
const DWELL_MS = 40;
/** Old enough to be shown at once, and read anew by the page itself. */
const FRESH_MS = 30_000;
/** An address may lead to another, that one to a third. */
const HOPS = 3;

let map: RouteObject[] = [];

/** From now on a link that is pointed at, touched or focused has its page fetched ahead. `routes` is the router's map. */
export function watchLinks(routes: RouteObject[]): void {
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

/** Fetches the code and the first answers of a page that may come next. Says nothing of what fails: the page will. */
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
  const visitor = knownVisitor();
  const verdict = guard(handle.route, visitor, url);
  const to = verdict.go === 'elsewhere' ? verdict.to : handle.leadsTo?.(visitor.permissions);
  if (to !== undefined) return hops === 0 ? [] : fetching(new URL(to, url), hops - 1);
  const code = matches.map(({ route }) => haveAtHand(route));
  if (verdict.go !== 'in' || !handle.reads) return code;
  return [...code, readAhead(handle.reads, { params: last.params, search: url.searchParams })];
}

/** What is at hand the router draws at once; to ask for it would be a stop on the way, and a drawing of its own. */
export async function haveAtHand(route: RouteObject): Promise<void> {
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

/** The visitor's wish to have nothing fetched that is not needed; not every browser tells it. */
function savesData(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
