import { api } from '@stagi/contract/api.ts';
import { q } from '../../api/query.ts';
import type { FirstRead, Visit } from '../../navigation/pageHandle.ts';
import { type CodeAddress, type CodeScreen, isHash, parseCodeAddress } from './codeAddress.ts';

/** What a call reads for an address. A commit is found without its branch, which may be gone. */
export function readAt({ branch, sha }: Pick<CodeAddress, 'branch' | 'sha'>): { branch?: string; sha?: string } {
  if (sha !== null) return { sha };
  if (branch === null) return {};
  return isHash(branch) ? { sha: branch } : { branch };
}

/** What a page of the code reads first: the same questions that the page will ask. */
export function codeReads(screen: CodeScreen, projectId: number, { pathname, search }: Visit): FirstRead[] {
  const address = parseCodeAddress(screen, pathname);
  if (!address) return [];
  const input = { id: projectId, ...readAt(address), path: address.path };
  const quiet = { quiet: true };
  switch (screen) {
    case 'tree':
      return [q(api.projectCode.tree, input, quiet)];
    case 'blob':
      return [q(api.projectCode.blob, input, quiet)];
    case 'commit':
      return [q(api.projectCode.commit, { ...input, ignoreWhitespace: search.get('whitespace') === 'off' }, quiet)];
    case 'commits':
      // The pages of a history are one answer, which a single call does not make.
      return [];
  }
}
