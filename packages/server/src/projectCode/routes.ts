import type { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { GitError } from '../git/run.ts';
import { refused } from '../http/errors.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { blameFile } from './blame.ts';
import { viewBlob } from './blob.ts';
import { viewCommit } from './commit.ts';
import { listCommits } from './history.ts';
import { listRefs } from './refs.ts';
import { searchCode } from './search.ts';
import { viewTree } from './tree.ts';

export const projectCodeHandlers: HandlersOf<typeof api.projectCode> = {
  tree: withinLimits(viewTree),
  blob: withinLimits(viewBlob),
  commit: withinLimits(viewCommit),
  commits: withinLimits(listCommits),
  refs: withinLimits(listRefs),
  search: withinLimits(searchCode),
  blame: withinLimits(blameFile),
};

/** What takes git too long or is too much to show is told as such: nothing is wrong with the platform. */
function withinLimits<Ctx, Input, Output>(
  handle: (ctx: Ctx, input: Input) => Promise<Output>,
): (ctx: Ctx, input: Input) => Promise<Output> {
  return async (ctx, input) => {
    try {
      return await handle(ctx, input);
    } catch (error) {
      if (error instanceof GitError && (error.reason === 'timeout' || error.reason === 'too-large'))
        throw refused(text('This is too much to show here. Clone the repository to read it.'));
      throw error;
    }
  };
}
