// Runs `scripts/<command>.ts` on the project's own Node, after installing the packages when the lock file changed.
// Started by whatever Node the machine has, so: no dependencies, nothing newer than Node 20.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = join(ROOT, 'node_modules/.bin/node');
const STAMP = join(ROOT, 'node_modules/.stagi-lock-sha256');
const REPEAT_MS = 500;
/**
 * The server's own memory in huge pages (glibc manual, "Memory Allocation Tunables"). Starting a process copies the page
 * table of its parent: with 600 MB of small pages each start of git stands the event loop for 14 ms, so for 4 ms.
 */
const LARGE_PAGES = 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432';

const [command, ...args] = process.argv.slice(2);
checkMachine();
if (command === 'installed') {
  writeFileSync(STAMP, lockHash());
} else {
  const script = join(ROOT, 'scripts', `${command}.ts`);
  if (!command || !existsSync(script))
    stop(
      `usage: node scripts/bootstrap.mjs start | dev | test | testLong | check | e2e | gen | demo | screenshots | bench | faults | operator | ledger`,
    );
  const installSeconds = isInstalled() ? 0 : install();
  checkOwnNode();
  run(script, installSeconds);
}

function checkMachine() {
  if (Number.parseInt(process.versions.node, 10) < 20)
    stop(
      `Stagi needs Node.js 20 or newer, and this is ${process.version}. Install a newer one from https://nodejs.org.`,
    );
  if (process.platform !== 'linux' || process.arch !== 'x64')
    stop(`Stagi runs on 64-bit x86 Linux, and this is ${process.platform} ${process.arch}.`);
}

function isInstalled() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lockHash();
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

/** Answers the seconds it took. */
function install() {
  // Before the packages, as npm runs their install scripts on the Node they bring.
  provideLibatomic();
  const start = performance.now();
  const isTerminal = process.stdout.isTTY === true;
  process.stdout.write(isTerminal ? '  Installing packages …' : 'Installing packages …\n');
  const npm = (process.env.npm_execpath || '').endsWith('npm-cli.js')
    ? [process.env.npm_node_execpath || process.execPath, process.env.npm_execpath]
    : ['npm'];
  // The machine's Node runs npm: the project's own is among what npm is about to remove.
  const PATH = (process.env.PATH || '')
    .split(':')
    .filter((path) => !path.startsWith(join(ROOT, 'node_modules')))
    .join(':');
  const ci = [...npm.slice(1), 'ci', '--include=dev', '--include=optional', '--loglevel=error'];
  const stdio = ['inherit', isTerminal ? 'ignore' : 'inherit', 'inherit'];
  const { status } = spawnSync(npm[0], ci, { cwd: ROOT, stdio, env: { ...process.env, PATH } });
  if (status !== 0)
    stop('The packages cannot be installed: see above. Check that the npm registry answers, then try again.');
  writeFileSync(STAMP, lockHash());
  const seconds = (performance.now() - start) / 1000;
  if (isTerminal) console.log(`\r\x1b[K✓ Packages installed  ${seconds.toFixed(1)} s`);
  return seconds;
}

/** Node 26 needs libatomic.so.1, which minimal Debian and Ubuntu machines lack. */
function provideLibatomic() {
  if (hasLibatomic()) return;
  const isRoot = process.getuid() === 0;
  const hint = `Node.js 26 needs libatomic.so.1. Install it first: ${isRoot ? '' : 'sudo '}apt-get install -y libatomic1`;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) stop(hint);
  console.log('Installing libatomic1 …');
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-qq'], options);
  if (spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'libatomic1'], options).status !== 0)
    stop(hint);
}

function hasLibatomic() {
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

function checkOwnNode() {
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies.node;
  let { status, stdout, stderr } = spawnSync(NODE, ['--version'], { encoding: 'utf8' });
  if (status !== 0 && !hasLibatomic()) {
    provideLibatomic();
    ({ status, stdout, stderr } = spawnSync(NODE, ['--version'], { encoding: 'utf8' }));
  }
  if (status !== 0)
    stop(
      `The project's own Node.js does not start: ${(stderr || 'it is missing').trim()}. Remove node_modules and try again.`,
    );
  if (stdout.trim() !== `v${wanted}`)
    stop(`node_modules holds Node.js ${stdout.trim()} instead of ${wanted}: remove it and try again.`);
}

/**
 * In a process group of its own, so that Ctrl-C in a terminal reaches it once, from here, and never its children behind its
 * back. It notices through the channel when this process is killed.
 */
function run(script, installSeconds) {
  const child = spawn(NODE, [script, ...args], {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
    // What was compiled once is not compiled again by the many processes of a test run, nor by the next start.
    env: {
      NODE_COMPILE_CACHE: join(ROOT, '.cache/compiled'),
      ...(['start', 'dev'].includes(command) && { GLIBC_TUNABLES: LARGE_PAGES }),
      ...process.env,
      INSTALL_SECONDS: String(installSeconds),
    },
  });
  let lastSignal = 0;
  const forward = (signal) => {
    // npm passes on what the terminal has sent here already. A later one is a person who has waited long enough.
    if (Date.now() - lastSignal < REPEAT_MS) return;
    lastSignal = Date.now();
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  whenNpmIsGone(() => forward('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code === null ? 128 + constants.signals[signal] : code));
}

/** A killed npm takes at most the shell between it and us along, and tells us nothing. */
function whenNpmIsGone(act) {
  if (!process.env.npm_lifecycle_event) return;
  const parentOf = (pid) =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')[1];
  const hasShell = /^(ba|da)?sh$/.test(readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim());
  const ancestors = () => [process.ppid, hasShell ? parentOf(process.ppid) : ''].join();
  const before = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === before) return;
    clearInterval(timer);
    act();
  }, 500);
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
