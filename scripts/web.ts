import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { lockFile } from './fileLock.mjs';
import { refuseReadOnly } from './readOnly.mjs';
import { CACHE, ROOT, runQuietly, stopAsked } from './run.ts';

const WEB = join(ROOT, 'packages/web');
/** A link to the newest build. */
const DIST = join(WEB, 'dist');
const BUILDS = join(CACHE, 'web');
/** Earlier builds stay, as servers that run already serve them. */
const KEPT = 3;
const WORK = 'work-';
const INPUTS = [
  'package-lock.json',
  'tsconfig.json',
  'scripts/{prerender,catalogueAnswers,writtenAnswers,pageHead,compress}.ts',
  'content/**',
  'packages/content/src/**',
  'packages/web/*.*',
  'packages/web/{src,public}/**',
  'packages/contract/src/**',
  'packages/perf/src/**',
  'packages/server/src/catalogue/*.ts',
];

/** Vite's command line, as `process.execPath` arguments. */
export const vite = () =>
  join(dirname(createRequire(join(WEB, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');

export interface WebBuild {
  /** The real folder, which stays the same when another build replaces this one. */
  folder: string;
  /** False when it was made from the same sources already. */
  isNew: boolean;
}

/**
 * Builds the web app and has `packages/web/dist` lead to it. One of several callers at once builds, and the others wait
 * for it. In a process of its own, so that the server started afterwards does not keep the bundler's memory. Prints the
 * bundler's output when it fails.
 */
export async function buildWeb(): Promise<WebBuild> {
  const folder = join(BUILDS, hashOfInputs().slice(0, 16));
  if (isCurrent(folder)) return { folder: realpathSync(folder), isNew: false };
  refuseReadOnly('The web app is not built of these sources', CACHE, WEB);
  const release = await lockFile(join(CACHE, 'web.lock'), { signal: stopAsked });
  try {
    const isNew = !existsSync(folder);
    if (isNew) await make(folder);
    utimesSync(folder, new Date(), new Date());
    makeCurrent(folder);
    removeOldBuilds();
    return { folder: realpathSync(folder), isNew };
  } finally {
    await release();
  }
}

/** For the terminal. */
export const webDone = ({ isNew }: WebBuild) => (isNew ? 'Web app built' : 'Web app up to date');

const isCurrent = (folder: string) => existsSync(folder) && linkOf(DIST) === relative(WEB, folder);

/** It gets its name when it is whole. */
async function make(folder: string) {
  const work = workFolder();
  const dist = join(work, 'dist');
  // The app built as a program for Node, which prerenders pages.
  const prerenderer = join(work, 'prerenderer');
  await node(vite(), 'build', '--outDir', dist, '--emptyOutDir');
  await node(vite(), 'build', '--ssr', 'src/prerenderEntry.tsx', '--outDir', prerenderer, '--emptyOutDir');
  await node(join(ROOT, 'scripts/prerender.ts'), join(prerenderer, 'prerenderEntry.js'), dist);
  await node(join(ROOT, 'scripts/compress.ts'), dist);
  renameSync(dist, folder);
}

function makeCurrent(folder: string) {
  const work = workFolder();
  // An older version built into `dist` itself.
  if (linkOf(DIST) === null && lstatSync(DIST, { throwIfNoEntry: false })) renameSync(DIST, join(work, 'former'));
  symlinkSync(relative(WEB, folder), join(work, 'dist'));
  renameSync(join(work, 'dist'), DIST);
}

/** Only the holder of the lock has a working folder, so the others are those of killed builds. */
function removeOldBuilds() {
  const names = readdirSync(BUILDS);
  const builds = names.filter((name) => !name.startsWith(WORK)).sort((a, b) => ageOf(a) - ageOf(b));
  const former = [...names.filter((name) => name.startsWith(WORK)), ...builds.slice(KEPT)];
  for (const name of former) rmSync(join(BUILDS, name), { recursive: true, force: true, maxRetries: 3 });
}

const ageOf = (name: string) => -statSync(join(BUILDS, name)).mtimeMs;

let folders = 0;
function workFolder() {
  folders += 1;
  const folder = join(BUILDS, `${WORK}${process.pid}-${Date.now()}-${folders}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function linkOf(path: string) {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

async function node(...args: string[]) {
  const env = { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' };
  const { code, output } = await runQuietly(process.execPath, args, { cwd: WEB, env });
  if (code === 0) return;
  console.error(output);
  throw new Error('The web app does not build: see above.');
}

function hashOfInputs() {
  const hash = createHash('sha256').update(process.version);
  for (const file of globSync(INPUTS, { cwd: ROOT }).sort())
    if (statSync(join(ROOT, file)).isFile())
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(ROOT, file)))
        .update('\0');
  return hash.digest('hex');
}
