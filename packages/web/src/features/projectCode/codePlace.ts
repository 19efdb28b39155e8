import { useLocation, useSearchParams } from 'react-router';
import { useRouteId } from '../../navigation/useRouteId.ts';
import { type CodeAddress, type CodeScreen, isHash, parseCodeAddress } from './codeAddress.ts';

/** Where the page is: the project, and what its address says; `address` is null where it says nothing that exists. */
export function useCodeAddress(screen: CodeScreen): { projectId: number; address: CodeAddress | null } {
  const { pathname } = useLocation();
  return { projectId: useRouteId(), address: parseCodeAddress(screen, pathname) };
}

/** What a call reads for an address. A commit is found without its branch, which may be gone. */
export function readAt({ branch, sha }: Pick<CodeAddress, 'branch' | 'sha'>): { branch?: string; sha?: string } {
  if (sha !== null) return { sha };
  if (branch === null) return {};
  return isHash(branch) ? { sha: branch } : { branch };
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
