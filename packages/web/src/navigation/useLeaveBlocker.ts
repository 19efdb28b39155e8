import { useEffect } from 'react';
import { type Blocker, useBlocker } from 'react-router';

interface Options {
  /** Also while only the query of the address changes. */
  withSearch?: boolean;
}

/**
 * While `atRisk`, neither a link nor Back leaves the page: the state of the blocker is `blocked` until the person has
 * decided. The browser itself asks before the tab is closed.
 */
export function useLeaveBlocker(atRisk: boolean, { withSearch = false }: Options = {}): Blocker {
  const blocker = useBlocker(
    ({ currentLocation: from, nextLocation: to }) =>
      atRisk && (from.pathname !== to.pathname || (withSearch && from.search !== to.search)),
  );
  useEffect(() => {
    if (!atRisk) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [atRisk]);
  return blocker;
}
