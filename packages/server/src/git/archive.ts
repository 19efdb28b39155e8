import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { exists } from './repository.ts';
import { GitError, spawnGit } from './run.ts';

const FIRST_BYTE_MS = 60_000;
const MAX_STDERR_CHARACTERS = 4_000;

/** A commit's own attributes leave files out of archives and change texts in them; these come before those. */
const ATTRIBUTES = '* -export-ignore -export-subst\n';

/**
 * The files of a commit as a tar archive, as a checkout has them; submodules are empty directories. Resolves once its
 * first bytes are there: what git refuses is a `GitError` until then. Destroying it ends git.
 */
export async function openArchive(gitDir: string, sha: string, signal: AbortSignal): Promise<Readable> {
  if (!/^[0-9a-f]{40}$/.test(sha)) throw new Error('not the full hash of a commit');
  await writeAttributes(gitDir);
  signal.throwIfAborted();
  const child = spawnGit(gitDir, ['-c', 'tar.umask=0022', 'archive', '--format=tar', sha]);
  const out = new PassThrough();
  let stderr = '';
  let ended: GitError['reason'] | null = null;
  const kill = (reason: GitError['reason']): void => {
    ended ??= reason;
    child.kill('SIGKILL');
  };
  const abort = (): void => kill('aborted');
  const timer = setTimeout(() => kill('timeout'), FIRST_BYTE_MS);
  signal.addEventListener('abort', abort, { once: true });
  child.stdin.end();
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR_CHARACTERS) stderr += chunk.toString();
  });
  child.stdout.pipe(out, { end: false });
  out.once('close', abort);
  child.once('error', (cause) => out.destroy(new GitError('not-started', 'archive', { cause })));
  child.once('close', (code) => {
    signal.removeEventListener('abort', abort);
    if (code === 0) out.end();
    else out.destroy(new GitError(ended ?? 'exit', 'archive', { code, stderr: stderr.trim() }));
  });
  try {
    await new Promise<void>((resolve, reject) => out.once('readable', resolve).once('error', reject));
    return out;
  } finally {
    clearTimeout(timer);
  }
}

/** Whole or not at all: another archive may begin meanwhile. */
async function writeAttributes(gitDir: string): Promise<void> {
  const path = join(gitDir, 'info', 'attributes');
  if (await exists(path)) return;
  // Not with its parents: a repository that is removed now must not come back.
  await mkdir(join(gitDir, 'info')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const unfinished = `${path}-${randomUUID()}`;
  await writeFile(unfinished, ATTRIBUTES, { flush: true });
  await rename(unfinished, path);
}
