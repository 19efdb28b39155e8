// The installed packages. Each state of the lock file has a folder of its own, `.installed/<start of its SHA-256>`, made
// once, under a lock. `node_modules` leads there through `.installed/current`, which one rename replaces when a new folder
// is whole, so whoever is killed in between leaves the former one in use. Links are relative: a checkout can be moved.
// A `node_modules` that a plain `npm install` made of this lock file is used as it is.
// No dependencies, nothing newer than Node 20: the bootstrap uses it.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockFile } from './fileLock.mjs';
import { provideLibatomic } from './libatomic.mjs';
import { mayWrite, refuseReadOnly } from './readOnly.mjs';
import { usedFolders } from './usedFolders.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = 'node_modules';
/** It lies among the packages, so that `npm ci`, which empties their folder, removes it first. */
const STAMP = join(MODULES, '.stagi-lock-sha256');
const STORE = join(ROOT, '.installed');
const CURRENT = join(STORE, 'current');
const LOCK = join(STORE, 'lock');
/** Folders of this prefix are no installation: they are being made, or are about to be removed. */
const SPARE = 'spare-';

export function isInstalled() {
  return isWhole(ROOT) && wrongLinks().length === 0;
}

/**
 * Notes that a plain `npm install` is through. It has replaced the link of the root alone: packages behind the others count
 * as installed for it, so they are copied.
 */
export function stamp() {
  for (const path of workspaceModules().filter(isOurs)) copyInPlace(path);
  const left = packagesLeftOut();
  if (left.length === 0) writeFileSync(join(ROOT, STAMP), lockHash());
  else console.log(`npm has left out ${left.join(', ')}: the next start installs the packages anew`);
}

function copyInPlace(path) {
  const copy = spare();
  const isDangling = !existsSync(join(ROOT, path));
  if (!isDangling) cpSync(realpathSync(join(ROOT, path)), copy, { recursive: true, verbatimSymlinks: true });
  unlinkSync(join(ROOT, path));
  if (!isDangling) renameSync(copy, join(ROOT, path));
}

/** Where npm removes a link to install one package, it takes those beside it for installed. */
function packagesLeftOut() {
  const list = join(ROOT, MODULES, '.package-lock.json');
  if (!existsSync(list)) return [];
  return Object.keys(JSON.parse(readFileSync(list, 'utf8')).packages).filter((path) => !existsSync(join(ROOT, path)));
}

/** Installs the packages unless another process has done so meanwhile. Throws a sentence that says what to do. */
export async function install() {
  refuseReadOnly('The packages are not installed', ROOT, STORE);
  const onWait = () => console.log('Another start is installing the packages: waiting …');
  const release = await lockFile(LOCK, { onWait });
  try {
    if (!isInstalled()) installLocked();
  } finally {
    await release();
  }
}

function installLocked() {
  const name = lockHash().slice(0, 16);
  const folder = join(STORE, name);
  if (!isWhole(folder)) make(folder);
  link(join('.installed', 'current'), name);
  if (!isOurs(MODULES)) moveModulesAside();
  for (const { path, target } of wrongLinks()) link(path, target);
}

function make(folder) {
  // Before the packages, as npm runs their install scripts on the Node they bring.
  provideLibatomic();
  const start = performance.now();
  const isTerminal = process.stdout.isTTY === true;
  process.stdout.write(isTerminal ? '  Installing packages …' : 'Installing packages …\n');
  const work = spare();
  copyManifests(work);
  if (runNpm(work, isTerminal) !== 0) {
    rmSync(work, { recursive: true, force: true });
    throw new Error(
      'The packages cannot be installed: see above. Check that the npm registry answers, then try again.',
    );
  }
  for (const path of workspaces()) linkWorkspace(work, path);
  writeFileSync(join(work, STAMP), lockHash());
  if (existsSync(folder)) renameSync(folder, spare());
  renameSync(work, folder);
  const seconds = (performance.now() - start) / 1000;
  if (isTerminal) console.log(`\r\x1b[K✓ Packages installed  ${seconds.toFixed(1)} s`);
}

/** All that `npm ci` reads, without our own install scripts: they are for an installation in the checkout itself. */
function copyManifests(work) {
  mkdirSync(work, { recursive: true });
  const { scripts: _, ...manifest } = manifestOf('');
  writeFileSync(join(work, 'package.json'), JSON.stringify(manifest));
  const others = workspaces().map((path) => join(path, 'package.json'));
  for (const file of ['package-lock.json', '.npmrc', ...others])
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(work, file));
}

function runNpm(work, isTerminal) {
  const npm = (process.env.npm_execpath || '').endsWith('npm-cli.js')
    ? [process.env.npm_node_execpath || process.execPath, process.env.npm_execpath]
    : ['npm'];
  // The machine's Node runs npm: the project's own may be another version than npm wants.
  const PATH = (process.env.PATH || '')
    .split(':')
    .filter((path) => !path.startsWith(join(ROOT, MODULES)))
    .join(':');
  const ci = [...npm.slice(1), 'ci', '--include=dev', '--include=optional', '--loglevel=error'];
  const stdio = ['inherit', isTerminal ? 'ignore' : 'inherit', 'inherit'];
  return spawnSync(npm[0], ci, { cwd: work, stdio, env: { ...process.env, PATH } }).status;
}

/** From `node_modules/@stagi/x` to the checkout's own folder; npm has linked the copy of its manifest. */
function linkWorkspace(work, path) {
  const { name } = manifestOf(path);
  if (!name) return;
  const place = join(work, MODULES, name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(relative(dirname(place), join(ROOT, path)), place);
}

/**
 * Folders that an older version or a plain `npm install` left are kept for the processes that run on them. The one of the
 * root comes last: while it is there, an interrupted move is taken up again.
 */
function moveModulesAside() {
  const aside = spare();
  for (const path of [...workspaceModules(), MODULES]) if (isThere(path) && !isOurs(path)) moveAside(path, aside);
}

function moveAside(path, aside) {
  mkdirSync(dirname(join(aside, path)), { recursive: true });
  renameSync(join(ROOT, path), join(aside, path));
}

/** Replaced by one rename; removed without a target. Paths are those in the checkout. */
function link(path, target) {
  if (!target) return unlinkSync(join(ROOT, path));
  if (isThere(path) && !isLink(path)) moveAside(path, spare());
  const made = spare();
  symlinkSync(target, made);
  renameSync(made, join(ROOT, path));
}

/** The links of `node_modules` folders that lead elsewhere than they should, with what they should lead to. */
function wrongLinks() {
  const isPlain = isThere(MODULES) && !isOurs(MODULES);
  return [MODULES, ...workspaceModules()]
    .map((path) => ({ path, target: isPlain || !existsSync(join(CURRENT, path)) ? null : targetOf(path) }))
    .filter(({ path, target }) => (target ? linkOf(path) !== target : isOurs(path)));
}

/** A link into the folder of installations. */
const isOurs = (path) => linkOf(path) === targetOf(path);
const isLink = (path) => linkOf(path) !== null;
const targetOf = (path) => relative(dirname(join(ROOT, path)), join(CURRENT, path));

function linkOf(path) {
  try {
    return readlinkSync(join(ROOT, path));
  } catch {
    return null;
  }
}

const isThere = (path) => lstatSync(join(ROOT, path), { throwIfNoEntry: false }) !== undefined;

/**
 * Removes installations that are no longer current and that no process runs on. The removal goes on behind, after this
 * process too; what it does not reach, a later call removes. A checkout that this user may only read keeps them.
 */
export async function removeFormerInstallations() {
  if (formerInstallations().length === 0 || !mayWrite(STORE)) return;
  const release = await lockFile(LOCK, { wait: false });
  if (!release) return;
  try {
    const former = formerInstallations();
    const used = usedFolders(former, ROOT);
    const unused = former.filter((folder) => !used.has(folder)).map(withdraw);
    if (unused.length > 0) spawn('rm', ['-rf', '--', ...unused], { stdio: 'ignore', detached: true }).unref();
  } finally {
    await release();
  }
}

function formerInstallations() {
  if (!existsSync(STORE)) return [];
  const kept = new Set(['current', 'lock', linkOf(join('.installed', 'current'))]);
  const store = realpathSync(STORE);
  return readdirSync(store)
    .filter((name) => !kept.has(name))
    .map((name) => join(store, name));
}

/** A half removed folder must not count as an installation, so its name goes first. */
function withdraw(folder) {
  const withdrawn = spare();
  renameSync(folder, withdrawn);
  return withdrawn;
}

const isWhole = (folder) => existsSync(join(folder, STAMP)) && readFileSync(join(folder, STAMP), 'utf8') === lockHash();

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

const manifestOf = (path) => JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'));

/** Paths of the folders with a package of their own. */
function workspaces() {
  return (manifestOf('').workspaces || [])
    .flatMap((pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const folder = pattern.slice(0, -2);
      return readdirSync(join(ROOT, folder)).map((name) => join(folder, name));
    })
    .filter((path) => existsSync(join(ROOT, path, 'package.json')));
}

const workspaceModules = () => workspaces().map((path) => join(path, MODULES));

let spares = 0;
function spare() {
  spares += 1;
  return join(STORE, `${SPARE}${Date.now()}-${process.pid}-${spares}`);
}
