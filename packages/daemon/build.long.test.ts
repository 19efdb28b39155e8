import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildDaemon } from './build.ts';

it('replaces an archive of other inputs, and builds it once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagid-build-'));
  const archive = join(folder, 'stagid-linux-x64.tar.gz');
  const checksum = `${archive}.sha256`;
  try {
    for (const file of [archive, checksum, join(folder, 'inputs')]) writeFileSync(file, 'of an earlier version');
    let isBuilt = false;
    const building = buildDaemon(folder).finally(() => {
      isBuilt = true;
    });
    await expect.poll(() => existsSync(checksum)).toBe(false);
    expect(isBuilt).toBe(false);
    const built = await building;
    const bytes = readFileSync(archive);
    expect(built).toEqual({ archiveBytes: bytes.length });
    expect(readFileSync(checksum, 'utf8')).toContain(createHash('sha256').update(bytes).digest('hex'));
    expect(await buildDaemon(folder)).toBe(null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
