import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { docker, ensureTestImage } from '../image.ts';
import { TINY_MODEL, tinyModel } from './tinyModel.ts';

const run = promisify(execFile);

export const ENGINE_REPOSITORY = 'stagi-engine';
/** Where the server listens unless its command or `LLAMA_ARG_PORT` says otherwise, as llama-server does. */
export const ENGINE_PORT = 8080;
export const MODEL_PATH = `/models/${TINY_MODEL.name}.gguf`;

const SOURCES = ['server.ts', 'chat.ts', 'llama.ts', 'options.ts', 'gguf.ts'];
const FOLDER = dirname(fileURLToPath(import.meta.url));
const ADDON = dirname(dirname(fileURLToPath(import.meta.resolve('@node-llama-cpp/linux-x64'))));
const ADDON_FILE = join(ADDON, 'bins/linux-x64/llama-addon.node');
/** Tests of other checkouts may be running on a younger one. */
const OLD_SECONDS = 24 * 60 * 60;

/**
 * An image of an inference server that needs no registry: llama.cpp with a model of random weights, this Node and the
 * libraries both need, on top of the test image. Its name has a tag of its contents, so it is built once for them. Like
 * llama.cpp's image it starts the server, and a container's command is the server's options. Returns its name.
 */
export async function ensureEngineImage(): Promise<string> {
  const base = await ensureTestImage();
  const files = await contents();
  const name = `${ENGINE_REPOSITORY}:${await digestOf(base, files)}`;
  if ((await docker.listImages({ filters: { reference: [name] } })).length === 0) await build(base, files, name);
  await removeOldOnes(name);
  return name;
}

/** What goes into the image, by its path there: a file or folder of this machine, or bytes. */
type Files = Map<string, string | Buffer>;

async function contents(): Promise<Files> {
  const files: Files = new Map<string, string | Buffer>([
    ['/usr/bin/node', process.execPath],
    ['/engine/package.json', Buffer.from('{"type":"module"}')],
    ['/engine/node_modules/@node-llama-cpp/linux-x64', ADDON],
    [MODEL_PATH, tinyModel()],
  ]);
  for (const source of SOURCES) files.set(`/engine/${source}`, join(FOLDER, source));
  for (const library of await librariesOf(process.execPath, ADDON_FILE)) files.set(library, await realpath(library));
  return files;
}

/** Paths of the shared libraries of the system, the loader included, that these need. */
async function librariesOf(...binaries: string[]): Promise<Set<string>> {
  const libraries = new Set<string>();
  for (const binary of binaries) {
    const { stdout } = await run('ldd', [await realpath(binary)]);
    if (/not found/.test(stdout)) throw new Error(`libraries of ${binary} are missing:\n${stdout}`);
    for (const [, path] of stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm))
      if (!path!.startsWith(ADDON)) libraries.add(path!);
  }
  return libraries;
}

async function digestOf(base: string, files: Files): Promise<string> {
  const hash = createHash('sha256')
    .update((await docker.getImage(base).inspect()).Id)
    .update(JSON.stringify(START));
  const { version } = JSON.parse(await readFile(join(ADDON, 'package.json'), 'utf8'));
  for (const [path, content] of files) {
    hash.update(`\0${path}\0`);
    // Packages of a pinned version, whose files are many or large.
    if (content === ADDON) hash.update(version);
    else if (content === process.execPath) hash.update(process.version);
    else hash.update(typeof content === 'string' ? await readFile(content) : content);
  }
  return hash.digest('hex').slice(0, 12);
}

const START = {
  Entrypoint: ['/usr/bin/node', '/engine/server.ts'],
  Cmd: [] as string[],
  Env: [
    'PATH=/usr/bin:/bin',
    'LLAMA_ARG_HOST=0.0.0.0',
    `LLAMA_ARG_PORT=${ENGINE_PORT}`,
    `LLAMA_ARG_MODEL=${MODEL_PATH}`,
    `LLAMA_ARG_ALIAS=${TINY_MODEL.name}`,
    // Threads of llama.cpp wait for each other by spinning: on a busy machine two are slower than one.
    'LLAMA_ARG_THREADS=1',
  ],
  ExposedPorts: { [`${ENGINE_PORT}/tcp`]: {} },
  WorkingDir: '/engine',
};

async function build(base: string, files: Files, name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stagi-engine-'));
  const container = await docker.createContainer({ Image: base, ...START });
  try {
    for (const [path, content] of files) {
      const target = join(folder, 'root', path);
      await mkdir(dirname(target), { recursive: true });
      if (typeof content === 'string') await cp(content, target, { recursive: true, dereference: true });
      else await writeFile(target, content);
    }
    const archive = join(folder, `${basename(name)}.tar`);
    await run('tar', ['-C', join(folder, 'root'), '--owner=0', '--group=0', '-cf', archive, '.']);
    await container.putArchive(archive, { path: '/' });
    const [repo, tag] = name.split(':');
    await container.commit({ repo, tag });
  } finally {
    await container.remove({ force: true });
    await rm(folder, { recursive: true });
  }
}

async function removeOldOnes(current: string): Promise<void> {
  const images = await docker.listImages({ filters: { reference: [ENGINE_REPOSITORY] } });
  for (const { Created, RepoTags } of images) {
    if (Date.now() / 1000 - Created < OLD_SECONDS) continue;
    for (const name of RepoTags ?? []) if (name !== current) await removeUnused(name);
  }
}

async function removeUnused(name: string): Promise<void> {
  await docker
    .getImage(name)
    .remove()
    .catch((error: { statusCode?: number }) => {
      // Used by a container, or removed by another process.
      if (error.statusCode !== 409 && error.statusCode !== 404) throw error;
    });
}
