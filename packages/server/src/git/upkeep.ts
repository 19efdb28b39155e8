import { runGit } from './run.ts';

const WRITE_MS = 300_000;

/**
 * Writes git's own commit-graph with filters of the paths that each commit changed: git walks a history faster with it.
 * Call it after each push and import; a second run is harmless.
 */
export async function writeCommitGraph(gitDir: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
  await runGit(gitDir, ['commit-graph', 'write', '--reachable', '--split', '--changed-paths'], {
    timeoutMs: WRITE_MS,
    signal,
  });
}
