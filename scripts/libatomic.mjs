import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Node 26 needs libatomic.so.1, which minimal Debian and Ubuntu machines lack. Throws a sentence that says what to do. */
export function provideLibatomic() {
  if (hasLibatomic()) return;
  const isRoot = process.getuid() === 0;
  const hint = `Node.js 26 needs libatomic.so.1. Install it first: ${isRoot ? '' : 'sudo '}apt-get install -y libatomic1`;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) throw new Error(hint);
  console.log('Installing libatomic1 …');
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-qq'], options);
  if (spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'libatomic1'], options).status !== 0)
    throw new Error(hint);
}

export function hasLibatomic() {
  const directories = [
    '/lib/x86_64-linux-gnu',
    '/usr/lib/x86_64-linux-gnu',
    '/lib64',
    '/usr/lib64',
    '/lib',
    '/usr/lib',
  ];
  if (directories.some((directory) => existsSync(join(directory, 'libatomic.so.1')))) return true;
  const { stdout } = spawnSync('ldconfig', ['-p'], { encoding: 'utf8' });
  return (stdout || '').includes('libatomic.so.1');
}
