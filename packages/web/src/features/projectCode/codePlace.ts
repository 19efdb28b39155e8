import { useLocation, useSearchParams } from 'react-router';
import { useRouteId } from '../../navigation/useRouteId.ts';
import { type CodeAddress, type CodeScreen, parseCodeAddress } from './codeAddress.ts';

/** Where the page is: the project, and what its address says; `address` is null where it says nothing that exists. */
export function useCodeAddress(screen: CodeScreen): { projectId: number; address: CodeAddress | null } {
  const { pathname } = useLocation();
  return { projectId: useRouteId(), address: parseCodeAddress(screen, pathname) };
}

/** The same page with another query, for links. */
export function useQueryLink(): (changes: Record<string, string | null>) => string {
  const [search] = useSearchParams();
  const { pathname } = useLocation();
  return (changes) => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    return next.size === 0 ? pathname : `${pathname}?${next}`;
  };
}
