import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const OUT = join(ROOT, '.cache/daemon');
const ARCHIVE = 'stagid-linux-x64.tar.gz';
/** Node links to it and minimal machines lack it, so it travels beside the binary. */
const LIBATOMIC = [
  '/usr/lib/x86_64-linux-gnu/libatomic.so.1',
  '/lib/x86_64-linux-gnu/libatomic.so.1',
  '/usr/lib64/libatomic.so.1',
];

/**
 * Makes `stagid`, one executable of bundle and Node, and packs it with libatomic into `.cache/daemon`. Skipped while
 * the sources, the lock file and Node are those of the last build. Several builds at once are harmless: the files
 * appear whole, the checksum last.
 */
export async function buildDaemon(): Promise<void> {
  const stamp = await inputsHash();
  const stampFile = join(OUT, 'inputs');
  const checksumFile = join(OUT, `${ARCHIVE}.sha256`);
  if (
    existsSync(checksumFile) &&
    existsSync(join(OUT, ARCHIVE)) &&
    (await readFile(stampFile, 'utf8').catch(() => '')) === stamp
  )
    return;

  const started = performance.now();
  await mkdir(OUT, { recursive: true });
  const dir = await mkdtemp(join(OUT, 'build-'));
  try {
    await bundle(join(dir, 'stagid.mjs'), stamp.slice(0, 12));
    await toExecutable(dir);
    await copyFile(libatomic(), join(dir, 'libatomic.so.1'));
    await run('tar', [
      '-C',
      dir,
      '--sort=name',
      '--owner=0',
      '--group=0',
      '--mtime=@0',
      '-I',
      'gzip -6 -n',
      '-cf',
      join(dir, ARCHIVE),
      'stagid',
      'libatomic.so.1',
    ]);
    const sha256 = createHash('sha256')
      .update(await readFile(join(dir, ARCHIVE)))
      .digest('hex');
    await writeFile(join(dir, 'sha256'), `${sha256}  ${ARCHIVE}\n`);
    await writeFile(join(dir, 'inputs'), stamp);
    const [binary, archive] = await Promise.all([stat(join(dir, 'stagid')), stat(join(dir, ARCHIVE))]);
    await rm(checksumFile, { force: true });
    await rename(join(dir, ARCHIVE), join(OUT, ARCHIVE));
    await rename(join(dir, 'stagid'), join(OUT, 'stagid'));
    await rename(join(dir, 'inputs'), stampFile);
    await rename(join(dir, 'sha256'), checksumFile);
    const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
    console.log(
      `daemon built in ${((performance.now() - started) / 1000).toFixed(1)} s: ${mb(binary.size)} MB, ${mb(archive.size)} MB to download`,
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function bundle(outfile: string, build_: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, 'src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    minifySyntax: true,
    keepNames: true,
    logLevel: 'warning',
    define: { STAGID_BUILD: JSON.stringify(build_) },
    // CommonJS packages inside an ES module look for `require`.
    banner: {
      js: "import { createRequire as stagiCreateRequire } from 'node:module'; const require = stagiCreateRequire(process.execPath);",
    },
    plugins: [
      {
        name: 'nothing-by-ssh',
        setup(plugin) {
          // dockerode can reach an engine by SSH; ours is a local socket, and these two are native.
          plugin.onResolve({ filter: /^(ssh2|cpu-features)$/ }, ({ path }) => ({ path, namespace: 'nothing' }));
          plugin.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
        },
      },
    ],
  });
}

async function toExecutable(dir: string): Promise<void> {
  const config = join(dir, 'sea.json');
  await writeFile(
    config,
    JSON.stringify({
      main: join(dir, 'stagid.mjs'),
      mainFormat: 'module',
      output: join(dir, 'stagid'),
      disableExperimentalSEAWarning: true,
    }),
  );
  await run(process.execPath, ['--build-sea', config]);
}

function libatomic(): string {
  const found = LIBATOMIC.find((path) => existsSync(path));
  if (!found) throw new Error('libatomic.so.1 is missing on this machine: apt-get install libatomic1');
  return found;
}

async function inputsHash(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const files = globSync(
    ['packages/daemon/{build.ts,package.json}', 'packages/{daemon,contract}/src/**/*.ts', 'package-lock.json'],
    { cwd: ROOT },
  )
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .toSorted();
  for (const file of files) hash.update(`\0${file}\0`).update(await readFile(join(ROOT, file)));
  return hash.digest('hex');
}

if (import.meta.main) await buildDaemon();
