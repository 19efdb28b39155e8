import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const BUILD = join(import.meta.dirname, 'build.ts');

it('withdraws an archive of other inputs before it builds the new one, and for good when it is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagid-build-'));
  const [checksum, inputs] = [join(folder, 'stagid-linux-x64.tar.gz.sha256'), join(folder, 'inputs')];
  for (const file of [join(folder, 'stagid-linux-x64.tar.gz'), checksum, inputs])
    writeFileSync(file, 'of an earlier version');
  const command = `import { buildDaemon } from ${JSON.stringify(BUILD)}; await buildDaemon(${JSON.stringify(folder)})`;
  const building = spawn(process.execPath, ['--input-type=module', '-e', command], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(building, 'exit');
  try {
    await expect.poll(() => existsSync(checksum), { interval: 5 }).toBe(false);
    building.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect([existsSync(checksum), existsSync(inputs)]).toEqual([false, false]);
  } finally {
    building.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
