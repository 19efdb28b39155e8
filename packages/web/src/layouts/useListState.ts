import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { useSearchParams } from 'react-router';
import type { PageOf, Sort } from '../ui/DataTable.tsx';

interface Defaults {
  sort?: Sort;
  limit?: number;
}

export interface ListState {
  page: number;
  sort: Sort;
  search: string;
  statuses: string[];
  /** Ready for a list call. */
  request: Pick<
    EntityFilterRequest,
    'page' | 'limit' | 'orderByField' | 'orderByDirection' | 'queryString' | 'statuses'
  >;
  setPage(page: number): void;
  setSort(sort: Sort): void;
  setSearch(search: string): void;
  setStatuses(statuses: string[]): void;
  /** A filter of the page's own, kept in the address too. */
  filter(name: string): string;
  setFilter(name: string, value: string): void;
  /** For `DataTable.paging`, from a list's answer. */
  paging(answer: { totalPages: number; totalCount: number } | undefined): PageOf | undefined;
  /** Whether anything narrows the list: an empty answer then means "no match", not "nothing yet". */
  narrowed: boolean;
  clear(): void;
}

const OWN = ['page', 'sort', 'q', 'status'];
const NEWEST: Sort = { field: 'createdAt', direction: 'desc' };

/** The order, page and filters of a list, kept in the address so that they survive a reload and can be shared. */
export function useListState({ sort: defaultSort = NEWEST, limit = 20 }: Defaults = {}): ListState {
  const [params, setParams] = useSearchParams();
  const page = Math.max(1, Number(params.get('page')) || 1);
  const sort = parseSort(params.get('sort')) ?? defaultSort;
  const search = params.get('q') ?? '';
  const statuses = params.getAll('status');
  const filters = [...params].filter(([name, value]) => !OWN.includes(name) && value !== '');

  function change(edit: (next: URLSearchParams) => void, keepPage = false): void {
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        if (!keepPage) next.delete('page');
        edit(next);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  }

  const put = (next: URLSearchParams, name: string, value: string) =>
    value === '' ? next.delete(name) : next.set(name, value);

  return {
    page,
    sort,
    search,
    statuses,
    request: {
      page,
      limit,
      orderByField: sort.field,
      orderByDirection: sort.direction,
      queryString: search || undefined,
      statuses: statuses.length > 0 ? statuses : undefined,
    },
    setPage: (number) => change((next) => put(next, 'page', number === 1 ? '' : String(number)), true),
    setSort: ({ field, direction }) => change((next) => next.set('sort', `${field}.${direction}`)),
    setSearch: (text) => change((next) => put(next, 'q', text)),
    setStatuses: (wanted) =>
      change((next) => {
        next.delete('status');
        for (const status of wanted) next.append('status', status);
      }),
    filter: (name) => params.get(name) ?? '',
    setFilter: (name, value) => change((next) => put(next, name, value)),
    paging: (answer) => answer && { page, limit, totalPages: answer.totalPages, totalCount: answer.totalCount },
    narrowed: search !== '' || statuses.length > 0 || filters.length > 0,
    clear: () => setParams({}, { replace: true, preventScrollReset: true }),
  };
}

function parseSort(value: string | null): Sort | null {
  const match = /^([A-Za-z]{1,40})\.(asc|desc)$/.exec(value ?? '');
  return match?.[1] ? { field: match[1], direction: match[2] === 'asc' ? 'asc' : 'desc' } : null;
}
