import { type SpawnOptions, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, copyFile, glob, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { FLAGS } from './src/flags.ts';

const ROOT = join(import.meta.dirname, '../..');
const OUT = join(ROOT, '.cache/daemon');
const ARCHIVE = 'stagid-linux-x64.tar.gz';
const LIBATOMIC = [
  '/usr/lib/x86_64-linux-gnu/libatomic.so.1',
  '/lib/x86_64-linux-gnu/libatomic.so.1',
  '/usr/lib64/libatomic.so.1',
];

const { resolve } = createRequire(import.meta.url);
/** Native parts of libraries, by their names beside the executable. */
const NATIVE = {
  'pty.node': resolve('@lydell/node-pty-linux-x64/pty.node'),
  // Masks frames for `ws`, which does so in JavaScript without it: most of what a stream costs.
  'bufferutil.node': resolve('bufferutil/prebuilds/linux-x64/bufferutil.node'),
};

/**
 * Makes `.cache/daemon/stagid-linux-x64.tar.gz` (the daemon as one executable, and the libraries it needs that
 * minimal machines lack) and `.sha256` beside it. Does nothing when its inputs have not changed. Several may run at once: each
 * works in a folder of its own, and the checksum, which makes the archive count, is renamed into place last. Returns
 * the size of a new archive.
 *
 * An archive of other inputs is withdrawn at once: a machine that is rented meanwhile would be told its checksum and then
 * download the new one.
 */
export async function buildDaemon(folder = OUT): Promise<{ archiveBytes: number } | null> {
  const inputs = await fingerprint();
  if (await isCurrent(folder, inputs)) return null;

  await withdraw(folder);
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, 'work-'));
  try {
    await bundle(join(work, 'stagid.mjs'));
    await makeExecutable(work);
    await copyFile(await findLibrary(), join(work, 'libatomic.so.1'));
    for (const [name, path] of Object.entries(NATIVE)) await copyFile(path, join(work, name));
    await pack(work);
    const sha256 = await digest(join(work, ARCHIVE));
    await writeFile(join(work, `${ARCHIVE}.sha256`), `${sha256}  ${ARCHIVE}\n`);
    await writeFile(join(work, 'inputs'), inputs);
    const { size } = await stat(join(work, ARCHIVE));
    // The stamp comes last: a build that breaks off in between is made again.
    await withdraw(folder);
    for (const file of [ARCHIVE, `${ARCHIVE}.sha256`, 'inputs']) await rename(join(work, file), join(folder, file));
    return { archiveBytes: size };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Tells whether the archive is there and made of today's inputs. Writes nothing. */
export const isDaemonBuilt = async (folder = OUT): Promise<boolean> => isCurrent(folder, await fingerprint());

/** Whether the archive in a folder was made of these inputs. */
async function isCurrent(folder: string, inputs: string): Promise<boolean> {
  const [stamp, ...files] = [join(folder, 'inputs'), join(folder, ARCHIVE), join(folder, `${ARCHIVE}.sha256`)];
  try {
    await Promise.all(files.map((file) => access(file)));
    return (await readFile(stamp!, 'utf8')) === inputs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** The platform serves no archive without its checksum. */
async function withdraw(folder: string): Promise<void> {
  for (const file of ['inputs', `${ARCHIVE}.sha256`]) await rm(join(folder, file), { force: true });
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const files = ['package-lock.json', 'packages/daemon/package.json'].map((file) => join(ROOT, file));
  for await (const file of glob(['packages/daemon/*.ts', 'packages/{daemon,contract}/src/**/*.ts'], { cwd: ROOT }))
    if (!/\.test\.ts$|\/testing\//.test(file)) files.push(join(ROOT, file));
  for (const file of files.sort()) hash.update(`${relative(ROOT, file)}\0`).update(await readFile(file));
  return hash.digest('hex');
}

async function bundle(outfile: string): Promise<void> {
  const emptyModule = join(import.meta.dirname, 'src/emptyModule.ts');
  await build({
    entryPoints: [join(import.meta.dirname, 'src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    legalComments: 'none',
    plugins: [nativeBesideTheExecutable],
    // Docker over SSH and BuildKit sessions: dockerode loads them at once, and we use neither.
    alias: Object.fromEntries(
      ['ssh2', 'cpu-features', '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'].map((name) => [name, emptyModule]),
    ),
    // Node checks UTF-8 natively itself.
    define: { 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(process.execPath);" },
    logLevel: 'warning',
  });
}

/** Has libraries load their native parts from the folder of the executable. */
const nativeBesideTheExecutable: Plugin = {
  name: 'native parts beside the executable',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /@lydell\/node-pty\/requireBinary\.js$/ }, () => ({
      contents: "exports.requireBinary = () => require('./pty.node');",
      loader: 'js',
    }));
    onResolve({ filter: /^bufferutil$/ }, () => ({ path: './bufferutil.node', external: true }));
    onResolve({ filter: /^\.\/pty\.node$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** `node --build-sea` puts the bundle into a copy of this Node. Never strip the result: it crashes then. */
async function makeExecutable(work: string): Promise<void> {
  const config = {
    main: join(work, 'stagid.mjs'),
    mainFormat: 'module',
    executable: process.execPath,
    output: join(work, 'stagid'),
    disableExperimentalSEAWarning: true,
    useCodeCache: false,
    execArgv: FLAGS,
    execArgvExtension: 'none',
  };
  await writeFile(join(work, 'sea.json'), JSON.stringify(config));
  await run(process.execPath, [`--build-sea=${join(work, 'sea.json')}`]);
}

async function findLibrary(): Promise<string> {
  for (const path of LIBATOMIC) {
    try {
      await access(path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('libatomic.so.1 is missing on this machine: apt-get install libatomic1');
}

/** gzip, since minimal machines have no zstd or xz; the same inputs give the same bytes. */
async function pack(work: string): Promise<void> {
  const tar = spawn(
    'tar',
    [
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mtime=@0',
      '--mode=u+rwx,go+rx',
      '-cf',
      '-',
      'stagid',
      'libatomic.so.1',
      ...Object.keys(NATIVE),
    ],
    { cwd: work, stdio: ['ignore', 'pipe', 'inherit'] } satisfies SpawnOptions,
  );
  const ended = once(tar, 'close');
  await pipeline(tar.stdout!, createGzip({ level: 6 }), createWriteStream(join(work, ARCHIVE)));
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function run(program: string, args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}`);
}

if (import.meta.main) await buildDaemon();
