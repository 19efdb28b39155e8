import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { type Query, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { call, handleRefusedLoad } from './client.ts';

const RETRIES = 2;

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error, query) => reportFirstRefusal(error, query) }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      retry: (failures, error) => failures < RETRIES && mayPass(error),
      retryDelay: (attempt, error) =>
        error instanceof CallError && error.retryAfter !== null ? error.retryAfter * 1000 : 500 * 2 ** attempt,
    },
    mutations: { retry: false },
  },
});

export interface QueryExtras {
  /** Background reading: a refusal neither navigates nor toasts, even at first load. */
  quiet?: boolean;
}

/**
 * Options of `useQuery` for a call of the contract. Its key is `[path, input]`. A first load that is
 * refused with 403 or 404 navigates once a screen waits for it, be it fetched by the screen or ahead of it;
 * later ones (polling, events) never do. Errors are for the page to show beside a retry, so no query toasts.
 */
export function q<C extends Call>(of: C, input: InputOf<C>, { quiet = false }: QueryExtras = {}) {
  return queryOptions<OutputOf<C>, Error, OutputOf<C>, readonly [string, InputOf<C>]>({
    queryKey: [of.path, input] as const,
    queryFn: ({ signal }) => call(of, input, { quiet: true, signal }),
    meta: { quiet },
  });
}

/** Navigates when a screen waits for its first data and the call was refused, whether the screen or a prefetch made it. */
function reportFirstRefusal(error: Error, query: Query<unknown, unknown, unknown>): void {
  const isAwaited = query.observers.some(({ options }) => options.meta?.quiet !== true);
  if (isAwaited && query.state.data === undefined && error instanceof CallError) handleRefusedLoad(error);
}

/** Refetches everything on screen that came from calls with these path prefixes. */
export function invalidate(...pathPrefixes: string[]): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey }) => {
      const path = String(queryKey[0]);
      return pathPrefixes.some((prefix) => path.startsWith(prefix));
    },
  });
}

/** Whether a retry may succeed. */
function mayPass(error: Error): boolean {
  return error instanceof CallError && [0, 429, 500, 502, 503, 504].includes(error.status);
}
