import type { Permission } from '@stagi/contract/permissions.ts';
import type { Route } from '@stagi/contract/routes.ts';
import type { FetchQueryOptions } from '@tanstack/react-query';
import type { Params } from 'react-router';

/** What every page of routes.tsx carries as its handle. */
export interface PageHandle {
  route: Route;
  /** What is prefetched for a link to the page. */
  reads?: FirstReads;
  /** For an address that only redirects. */
  leadsTo?(permissions: readonly Permission[], params: Params): string;
}

/** An address that may be visited next. */
export interface Visit {
  pathname: string;
  params: Params;
  search: URLSearchParams;
  permissions: readonly Permission[];
}

/** What a page reads before it can show anything. */
export type FirstReads = (visit: Visit) => readonly FirstRead[] | Promise<readonly FirstRead[]>;
// biome-ignore lint/suspicious/noExplicitAny: the options of a query of whatever call
export type FirstRead = FetchQueryOptions<any, Error, any, any>;
