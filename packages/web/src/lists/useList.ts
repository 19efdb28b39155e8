import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { z } from 'zod';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import type { PageOf, Sort } from '../ui/table/tableTypes.ts';
import type { ListState } from './useListState.ts';

interface Answer {
  entities: unknown[];
  totalPages: number;
  totalCount: number;
  isMore?: boolean;
}
type ListCall = Call<z.ZodType, z.ZodType<Answer>>;

/** A page of a list as it is shown. */
export interface ListOf<Row> {
  state: ListState;
  /** Nothing narrows the list, and nothing is in it. False until that is known. */
  isEmpty: boolean;
  /** For a `DataTable`. While the next page is fetched the old rows stay. */
  table: {
    rows: readonly Row[] | undefined;
    /** What was asked for: until it changes, rows may keep their places. */
    listKey: string;
    error: string | null;
    onRetry(): void;
    retrying: boolean;
    stale: boolean;
    sort: Sort;
    onSort(sort: Sort): void;
    paging: PageOf | undefined;
    onPage(page: number): void;
    onLimit(limit: number): void;
  };
}

export interface List<C extends ListCall> extends ListOf<OutputOf<C>['entities'][number]> {
  data: OutputOf<C> | undefined;
}

/** What the platform names when it cannot sort by what an address asks for. */
const ORDER_FIELD = 'entityFilterRequest.orderByField';

/** One page of a list call. `everyMs` reads it again besides what events do, for figures that no event announces. */
export function useList<C extends ListCall>(
  of: C,
  input: InputOf<C>,
  state: ListState,
  everyMs?: number | ((answer: OutputOf<C> | undefined) => number),
): List<C> {
  const query = useQuery({
    ...q(of, input),
    placeholderData: keepPreviousData,
    refetchInterval: typeof everyMs === 'function' ? ({ state }) => everyMs(state.data) : everyMs,
  });
  const { data, error, isFetching, isPlaceholderData, refetch } = query;

  const { page, setPage, resetSort } = state;
  const behindTheEnd = data !== undefined && !isPlaceholderData && page > 1 && page > data.totalPages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: setPage is another function at every drawing
  useEffect(() => {
    if (behindTheEnd) setPage(Math.max(1, data?.totalPages ?? 1), { replace: true });
  }, [behindTheEnd]);

  // Nothing matched the question before: that is no word about all there is.
  const answersLess = isPlaceholderData && data?.entities.length === 0 && !state.narrowed;

  const unknownOrder = error instanceof CallError && error.body?.fieldsWithError?.includes(ORDER_FIELD) === true;
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    if (unknownOrder) resetSort();
  }, [unknownOrder]);

  const rows = behindTheEnd || answersLess ? undefined : data?.entities;
  return {
    data,
    state,
    isEmpty: !state.narrowed && rows?.length === 0,
    table: {
      rows,
      listKey: JSON.stringify(input),
      error: error && !unknownOrder ? errorText(error) : null,
      onRetry: () => void refetch(),
      retrying: isFetching,
      stale: isPlaceholderData,
      sort: state.sort,
      onSort: state.setSort,
      paging: state.paging(data),
      onPage: setPage,
      onLimit: state.setLimit,
    },
  };
}
