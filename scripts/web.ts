import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CACHE, ROOT, runQuietly } from './run.ts';

const WEB = join(ROOT, 'packages/web');
const STAMP = join(CACHE, 'web.sha256');
/** The app built as a program for Node, which prerenders pages. */
const PRERENDERER = join(CACHE, 'prerenderer');
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

/**
 * Builds the web app into `packages/web/dist`; false when that was made from the same sources already. In a process of
 * its own, so that the server started afterwards does not keep the bundler's memory. Prints what the bundler said when
 * it fails.
 */
export async function buildWeb(): Promise<boolean> {
  const hash = hashOfInputs();
  if (existsSync(join(WEB, 'dist/index.html')) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash)
    return false;
  rmSync(STAMP, { force: true });
  await node(vite(), 'build');
  await node(vite(), 'build', '--ssr', 'src/prerenderEntry.tsx', '--outDir', PRERENDERER, '--emptyOutDir');
  await node(join(ROOT, 'scripts/prerender.ts'), join(PRERENDERER, 'prerenderEntry.js'), join(WEB, 'dist'));
  await node(join(ROOT, 'scripts/compress.ts'), join(WEB, 'dist'));
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(STAMP, hash);
  return true;
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
