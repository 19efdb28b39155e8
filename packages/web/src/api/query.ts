import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { call, reportRefusal } from './client.ts';

const RETRIES = 2;

export const queryClient = new QueryClient({
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
 * refused with 403 or 404 navigates; later ones (polling, events) never do. Errors are for the page
 * to show beside a retry, so no query toasts.
 */
export function q<C extends Call>(of: C, input: InputOf<C>, { quiet = false }: QueryExtras = {}) {
  return queryOptions<OutputOf<C>, Error, OutputOf<C>, readonly [string, InputOf<C>]>({
    queryKey: [of.path, input] as const,
    queryFn: async ({ signal, client, queryKey }) => {
      try {
        return await call(of, input, { quiet: true, signal });
      } catch (error) {
        const first = client.getQueryData(queryKey) === undefined;
        if (first && !quiet && error instanceof CallError) reportRefusal(error.status, error.body);
        throw error;
      }
    },
  });
}

/** Reads again everything on screen that came from calls whose path begins so. */
export function invalidate(...pathPrefixes: string[]): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey }) => {
      const path = String(queryKey[0]);
      return pathPrefixes.some((prefix) => path.startsWith(prefix));
    },
  });
}

/** Whether the same call may succeed a moment later. */
function mayPass(error: Error): boolean {
  return error instanceof CallError && [0, 429, 500, 502, 503, 504].includes(error.status);
}
