import { useQuery } from '@tanstack/react-query';
import { loadChunk } from '../../../lazyChunks.ts';

export const TIMES_SHOWN = 3;

type NextTimes = { is: 'unknown' } | { is: 'wrong' } | { is: 'known'; times: Date[] };

/** The next times of an expression; `wrong` where it is none. The library that computes them is fetched when needed. */
export function useNextTimes(cron: string | null, timeZone: string): NextTimes {
  const { data } = useQuery({
    queryKey: ['next times', cron, timeZone] as const,
    queryFn: async (): Promise<NextTimes> => {
      const { nextTimes } = await loadChunk(() => import('./nextTimes.ts'));
      try {
        return { is: 'known', times: nextTimes(cron ?? '', timeZone, TIMES_SHOWN) };
      } catch {
        return { is: 'wrong' };
      }
    },
    enabled: cron !== null,
    refetchInterval: 30_000,
  });
  return data ?? { is: 'unknown' };
}
