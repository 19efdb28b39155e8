// Copies what the platform needs to run out of an installed checkout into a folder of its own: its sources without tests,
// the builds, the packages that the server uses and no others, and the project's Node. Usage: node collect.mjs <folder>
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The server and what it imports. */
const PACKAGES = ['content', 'contract', 'perf', 's3', 'server'];
const TARGET = process.argv[2];
if (!TARGET) throw new Error('usage: node collect.mjs <folder>');

const copy = (from, to = from, options = {}) =>
  cpSync(join(ROOT, from), join(TARGET, to), { recursive: true, dereference: true, ...options });
const isOfTests = (path) => /\.test\.tsx?$/.test(path) || basename(path) === 'testing';
const isSource = (path) => basename(path) !== 'node_modules' && !isOfTests(path);

installServer();
for (const name of PACKAGES) copy(join('packages', name, 'src'), undefined, { filter: isSource });
copy('scripts', undefined, { filter: isSource });
copy('content');
copy('LICENSE');
copy(realpathSync(join(ROOT, 'packages/web/dist')).slice(ROOT.length + 1), 'web');
copy('.cache/daemon', 'daemon');
copy('node_modules/node/bin/node', 'bin/node');
copy('deploy/docker/entrypoint.sh', 'bin/entrypoint.sh');
for (const name of ['node', 'entrypoint.sh']) chmodSync(join(TARGET, 'bin', name), 0o755);

/** By npm itself, which knows what belongs to whom. */
function installServer() {
  mkdirSync(TARGET, { recursive: true });
  const { scripts: _, devDependencies: __, ...manifest } = manifestOf('.');
  writeManifest('.', { ...manifest, workspaces: PACKAGES.map((name) => `packages/${name}`) });
  for (const name of PACKAGES) {
    const { devDependencies: _, ...rest } = manifestOf(join('packages', name));
    writeManifest(join('packages', name), rest);
  }
  for (const file of ['package-lock.json', '.npmrc']) copy(file);
  const install = ['ci', '--omit=dev', '--loglevel=error'];
  const { status } = spawnSync('npm', install, { cwd: TARGET, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${install.join(' ')} ended with ${status}`);
  rmSync(join(TARGET, '.npmrc'));
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'));
}

function writeManifest(path, manifest) {
  mkdirSync(join(TARGET, path), { recursive: true });
  writeFileSync(join(TARGET, path, 'package.json'), JSON.stringify(manifest, null, 2));
}
