// `npm install` against a registry mirror that lacks some platform packages (a Mac's or a musl build of a tool) silently
// leaves them out of the lock file, and `npm ci` then refuses that lock everywhere. After every install this writes them
// back, as npm itself would have: a package for another platform is never fetched, so name, version and platform are enough.
//   node scripts/lock.mjs [--check]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'package-lock.json';
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
const missing = missingPackages(lock.packages);
if (process.argv[2] === '--check') check();
else complete();

function check() {
  const problems = staleManifests(lock.packages).map((path) => `${FILE} is older than ${path}: run npm install`);
  if (missing.length > 0)
    problems.push(`${FILE} lacks ${missing.map(({ name }) => name).join(', ')}: run node scripts/lock.mjs`);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
}

/** The package.json files of ours that ask for other packages than the lock file was made for. */
function staleManifests(packages) {
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];
  const wanted = (manifest) => JSON.stringify(kinds.map((kind) => Object.entries(manifest[kind] ?? {}).sort()));
  return Object.keys(packages)
    .filter((path) => !path.includes('node_modules/'))
    .map((path) => ({ path: join(path, 'package.json'), locked: packages[path] }))
    .filter(({ path, locked }) => wanted(JSON.parse(readFileSync(path, 'utf8'))) !== wanted(locked))
    .map(({ path }) => path);
}

function complete() {
  if (missing.length === 0) return;
  for (const one of missing) lock.packages[`node_modules/${one.name}`] = entryOf(one);
  const sorted = Object.entries(lock.packages).sort(([a], [b]) =>
    a === b ? 0 : a === '' ? -1 : b === '' ? 1 : a.localeCompare(b, 'en'),
  );
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${FILE}: ${missing.length} packages of other platforms added`);
}

function missingPackages(packages) {
  return Object.entries(packages).flatMap(([from, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !isLocked(packages, from, name))
      .map(([name, version]) => ({ name, version, dev: entry.dev })),
  );
}

function isLocked(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${at ? `${at}/` : ''}node_modules/${name}`]) return true;
    if (!at) return false;
  }
}

/** What npm writes for a package of another platform. Such packages carry the platform in their name. */
function entryOf({ name, version, dev }) {
  const words = name.split(/[-/]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  if (!os || !cpu || !/^\d+\.\d+\.\d+/.test(version))
    throw new Error(`${name}@${version} is missing from ${FILE}, and its name does not tell its platform`);
  const libc = os === 'linux' ? { libc: [words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc'] } : {};
  return { version, cpu: [cpu], ...(dev ? { dev } : {}), ...libc, optional: true, os: [os] };
}
