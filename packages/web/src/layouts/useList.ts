import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { z } from 'zod';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import type { PageOf } from '../ui/DataTable.tsx';
import type { ListState } from './useListState.ts';

interface Answer {
  entities: unknown[];
  totalPages: number;
  totalCount: number;
}
type ListCall = Call<z.ZodType, z.ZodType<Answer>>;

export interface List<C extends ListCall> {
  data: OutputOf<C> | undefined;
  /** For a `DataTable`. While the next page is fetched the old rows stay. */
  table: {
    rows: OutputOf<C>['entities'] | undefined;
    error: string | null;
    onRetry(): void;
    stale: boolean;
    paging: PageOf | undefined;
    onPage(page: number): void;
  };
}

/** One page of a list call. `everyMs` reads it again besides what events do, for figures that no event announces. */
export function useList<C extends ListCall>(of: C, input: InputOf<C>, list: ListState, everyMs?: number): List<C> {
  const query = useQuery({ ...q(of, input), placeholderData: keepPreviousData, refetchInterval: everyMs });
  const { data, error, isPlaceholderData, refetch } = query;

  const { page, setPage } = list;
  const behindTheEnd = data !== undefined && !isPlaceholderData && page > 1 && page > data.totalPages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: setPage is another function at every drawing
  useEffect(() => {
    if (behindTheEnd) setPage(Math.max(1, data?.totalPages ?? 1));
  }, [behindTheEnd]);

  return {
    data,
    table: {
      rows: behindTheEnd ? undefined : data?.entities,
      error: error ? errorText(error) : null,
      onRetry: () => void refetch(),
      stale: isPlaceholderData,
      paging: list.paging(data),
      onPage: setPage,
    },
  };
}
