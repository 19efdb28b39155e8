import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CACHE, ROOT, runQuietly } from './run.ts';

const WEB = join(ROOT, 'packages/web');
const STAMP = join(CACHE, 'web.sha256');
/** The app once more, as a program that draws pages on this machine. */
const DRAWING = join(CACHE, 'drawing');
const INPUTS = [
  'package-lock.json',
  'tsconfig.json',
  'scripts/{draw,compress}.ts',
  'packages/web/*.*',
  'packages/web/{src,public}/**',
  'packages/contract/src/**',
];

/** Vite's command line, as `process.execPath` arguments. */
export const vite = () =>
  join(dirname(createRequire(join(WEB, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');

/**
 * Builds the web app into `packages/web/dist`, unless that was made from the same sources. In a process of its own, so
 * that the server started afterwards does not keep the bundler's memory. Throws with the bundler's words.
 */
export async function buildWeb(): Promise<void> {
  const hash = hashOfInputs();
  if (existsSync(join(WEB, 'dist/index.html')) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  rmSync(STAMP, { force: true });
  console.log('Building the web app …');
  await node(vite(), 'build');
  await node(vite(), 'build', '--ssr', 'src/drawing/draw.tsx', '--outDir', DRAWING, '--emptyOutDir');
  await node(join(ROOT, 'scripts/draw.ts'), join(DRAWING, 'draw.js'), join(WEB, 'dist'));
  await node(join(ROOT, 'scripts/compress.ts'), join(WEB, 'dist'));
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(STAMP, hash);
}

async function node(...args: string[]) {
  const env = { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' };
  const { code, output } = await runQuietly(process.execPath, args, { cwd: WEB, env });
  if (code !== 0) throw new Error(`The web app does not build:\n${output}`);
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
