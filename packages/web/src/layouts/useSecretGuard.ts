import { useEffect } from 'react';
import { type Blocker, useBlocker } from 'react-router';

/**
 * While a secret that is shown only once has not been taken, neither a link nor Back takes its page away unasked:
 * the blocker answered is `blocked` then. The browser itself asks before the tab is closed.
 */
export function useSecretGuard(atRisk: boolean): Blocker {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => atRisk && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (!atRisk) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [atRisk]);
  return blocker;
}
