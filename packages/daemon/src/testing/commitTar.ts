import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file, or a symbolic link to `link`. */
export interface CommittedFile {
  name: Buffer;
  content: Buffer | string;
  isLink?: boolean;
}

/** The archive that git makes of a commit with these files, as the platform sends it. */
export function commitTar(files: readonly CommittedFile[], folder: Buffer | null = null): Buffer {
  const dir = mkdtempSync(join(tmpdir(), 'stagi-commit-'));
  const git = (args: string[], input: Buffer | string = ''): Buffer =>
    execFileSync('git', args, {
      cwd: dir,
      input,
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    });
  try {
    git(['init', '-q', '--bare', '.']);
    const entries = files.map(({ name, content, isLink }) => {
      const blob = git(['hash-object', '-w', '--stdin'], content).toString().trim();
      return Buffer.concat([Buffer.from(`${isLink ? '120000' : '100644'} blob ${blob}\t`), name, Buffer.from([0])]);
    });
    let tree = git(['mktree', '-z'], Buffer.concat(entries)).toString().trim();
    if (folder)
      tree = git(['mktree', '-z'], Buffer.concat([Buffer.from(`040000 tree ${tree}\t`), folder, Buffer.from([0])]))
        .toString()
        .trim();
    return git(['-c', 'tar.umask=0022', 'archive', '--format=tar', tree]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
