import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDaemon } from '@stagi/daemon/build.ts';

const ARCHIVE = join(import.meta.dirname, '../../.cache/daemon/stagid-linux-x64.tar.gz');

/** Uses the built daemon instead of its source, as these runs measure its memory. */
export async function useBuiltDaemon(): Promise<void> {
  await buildDaemon();
  const folder = mkdtempSync(join(tmpdir(), 'stagid-shipped-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['-xzf', ARCHIVE, '-C', folder]);
  process.env.STAGID = join(folder, 'stagid');
}
