// Runs `scripts/<command>.ts` on the project's own Node, after installing the packages when the lock file changed.
// Started by whatever Node the machine has, so: no dependencies, nothing newer than Node 20.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, existsSync, constants as fsConstants, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, isInstalled, removeFormerInstallations, stamp } from './install.mjs';
import { hasLibatomic, provideLibatomic } from './libatomic.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = join(ROOT, 'node_modules/.bin/node');
/** Commands that are about this machine's platform, so they read its settings. */
const CONFIGURED = ['start', 'dev', 'migrate', 'operator', 'ledger'];
const REPEAT_MS = 500;
/**
 * The server's own memory in huge pages (glibc manual, "Memory Allocation Tunables"). Starting a process copies the page
 * table of its parent: with 600 MB of small pages each start of git stands the event loop for 14 ms, so for 4 ms.
 */
const LARGE_PAGES = 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432';

const [command, ...args] = process.argv.slice(2);
checkMachine();
if (command === 'installed') stamp();
else await start();

async function start() {
  const script = join(ROOT, 'scripts', `${command}.ts`);
  if (!command || !existsSync(script))
    stop(
      `usage: node scripts/bootstrap.mjs start | installOnly | dev | test | testLong | check | e2e | gen | demo | screenshots | bench | faults | migrate | operator | ledger`,
    );
  const before = performance.now();
  const isNew = !isInstalled();
  try {
    if (isNew) await install();
    checkOwnNode();
  } catch (error) {
    stop(error.message);
  }
  const installSeconds = isNew ? (performance.now() - before) / 1000 : 0;
  // They only take room.
  await removeFormerInstallations().catch((error) => console.error(`Former packages stay: ${error.message}`));
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

function checkOwnNode() {
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies.node;
  let { status, stdout, stderr } = spawnSync(NODE, ['--version'], { encoding: 'utf8' });
  if (status !== 0 && !hasLibatomic()) {
    provideLibatomic();
    ({ status, stdout, stderr } = spawnSync(NODE, ['--version'], { encoding: 'utf8' }));
  }
  if (status !== 0)
    stop(
      `The project's own Node.js does not start: ${(stderr || 'it is missing').trim()}. Remove node_modules and .installed, then try again.`,
    );
  if (stdout.trim() !== `v${wanted}`)
    stop(`node_modules holds Node.js ${stdout.trim()} instead of ${wanted}: remove it and .installed, then try again.`);
}

/**
 * In a process group of its own, so that Ctrl-C in a terminal reaches it once, from here, and never its children behind its
 * back. It notices through the channel when this process is killed.
 */
function run(script, installSeconds) {
  const child = spawn(NODE, [...settingsFile(), script, ...args], {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
    // Code that was compiled once is not compiled again by the many processes of a test run, nor by the next start.
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

/** Node reads it; what the environment names already counts more. */
function settingsFile() {
  if (!CONFIGURED.includes(command)) return [];
  const named = process.env.STAGI_ENV_FILE;
  const file = named || join(ROOT, 'stagi.env');
  try {
    accessSync(file, fsConstants.R_OK);
  } catch ({ code }) {
    if (!named && code === 'ENOENT') return [];
    stop(`${named ? `STAGI_ENV_FILE names ${file}, which` : file} cannot be read: ${code}`);
  }
  return [`--env-file=${file}`];
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
