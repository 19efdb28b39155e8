import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';

const SHOWN = 20;
const TYPING_MS = 250;

/** What is typed into a `Select` that finds its options with a call: asked once it is open and the typing has paused. */
export function useOptionSearch() {
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState(false);
  const [asked] = useDebouncedValue(search.trim(), TYPING_MS);
  return {
    entityFilterRequest: { queryString: asked || undefined, limit: SHOWN },
    query: { enabled: opened, placeholderData: keepPreviousData },
    found: ({ data, isPlaceholderData, isFetching }: UseQueryResult<unknown>) => ({
      search,
      onSearch: setSearch,
      stale: search.trim() !== asked || isPlaceholderData || (isFetching && data === undefined),
      onOpen: () => setOpened(true),
    }),
  };
}
