import { useAddressParams } from '../navigation/useAddressParams.ts';
import { PAGE_LIMIT } from '../ui/table/pageLimits.ts';
import type { PageOf, Sort } from '../ui/table/tableTypes.ts';
import { type ListAddress, listAddress, SEPARATOR } from './listAddress.ts';

interface Defaults {
  sort?: Sort;
  /** The page's own filters, by their names in the address. */
  filters?: readonly string[];
}

export interface ListState extends ListAddress {
  setPage(page: number, options?: { replace: boolean }): void;
  setLimit(limit: number): void;
  /** Back to the page's own order, for an address that asks for one which does not exist. */
  resetSort(): void;
  setSort(sort: Sort): void;
  setSearch(search: string): void;
  setStatuses(statuses: string[]): void;
  setFilter(name: string, value: string): void;
  setValues(name: string, values: readonly string[]): void;
  /** For `DataTable.paging`, from a list's answer. */
  paging(answer: Omit<PageOf, 'page' | 'limit'> | undefined): PageOf | undefined;
  /** Whether anything narrows the list: an empty answer then means "no match", not "nothing yet". */
  narrowed: boolean;
  clear(): void;
}

/** The order, page and filters of a list, kept in the address so that they survive a reload and can be shared. */
export function useListState({ sort: defaultSort, filters = NONE }: Defaults = {}): ListState {
  const [params, changeParams] = useAddressParams();
  const address = listAddress(params, defaultSort);
  const { page, search, statuses } = address;
  const limit = address.request.limit ?? PAGE_LIMIT;

  function change(edit: (next: URLSearchParams) => void, { keepPage = false, replace = true } = {}): void {
    changeParams(
      (next) => {
        if (!keepPage) next.delete('page');
        edit(next);
      },
      { replace },
    );
  }

  const put = (next: URLSearchParams, name: string, value: string) =>
    value === '' ? next.delete(name) : next.set(name, value);

  return {
    ...address,
    // Another page is a place one may come back to; a filter being tried is not.
    setPage: (number, { replace } = { replace: false }) =>
      change((next) => put(next, 'page', number === 1 ? '' : String(number)), { keepPage: true, replace }),
    setLimit: (rows) =>
      change(
        (next) => {
          put(next, 'limit', rows === PAGE_LIMIT ? '' : String(rows));
          // The first row that was shown stays on the page that is shown.
          const first = Math.floor(((page - 1) * limit) / rows) + 1;
          put(next, 'page', first === 1 ? '' : String(first));
        },
        { keepPage: true },
      ),
    resetSort: () => change((next) => next.delete('sort'), { keepPage: true }),
    setSort: ({ field, direction }) => change((next) => next.set('sort', `${field}.${direction}`)),
    setSearch: (text) => change((next) => put(next, 'q', text)),
    setStatuses: (wanted) =>
      change((next) => {
        next.delete('status');
        for (const status of wanted) next.append('status', status);
      }),
    setFilter: (name, value) => change((next) => put(next, name, value)),
    setValues: (name, values) => change((next) => put(next, name, values.join(SEPARATOR))),
    paging: (answer) =>
      answer && {
        page,
        limit,
        totalPages: answer.totalPages,
        totalCount: answer.totalCount,
        isMore: answer.isMore,
      },
    narrowed: search !== '' || statuses.length > 0 || filters.some((name) => (params.get(name) ?? '') !== ''),
    clear: () =>
      change((next) => {
        for (const name of ['q', 'status', ...filters]) next.delete(name);
      }),
  };
}

const NONE: readonly string[] = [];
