import { openCommitGraph } from './commitGraph.ts';
import { runGit } from './run.ts';
import { writeChangedPaths } from './writeChangedPaths.ts';

const WRITE_MS = 300_000;

/** Writes what lets pages walk a history fast. Call it after each push and import; a second run is harmless. */
export async function writeCommitGraph(gitDir: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
  await runGit(gitDir, ['commit-graph', 'write', '--reachable', '--split', '--changed-paths'], {
    timeoutMs: WRITE_MS,
    signal,
  });
  const graph = await openCommitGraph(gitDir, null);
  if (graph) await writeChangedPaths(gitDir, graph, signal);
}
