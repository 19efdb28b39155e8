import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyTestImage, docker } from './image.ts';

const run = promisify(execFile);

/** The things that an image has besides the tools of the test image. */
export interface ProgramImage {
  /** Without a tag: that names its content. */
  name: string;
  /** Packages of Debian that are unpacked into it, not set up. */
  packages?: readonly string[];
  /** Programs of these packages or of this machine, by path: with their libraries. */
  programs: readonly string[];
  /** Further files: scripts, which can be executed. */
  scripts?: Record<string, string>;
  /** Lines of a Dockerfile, such as `STOPSIGNAL SIGINT`. */
  changes?: readonly string[];
}

/** An image out of programs of this machine, built once, without a registry. Returns its name. */
export async function ensureProgramImage(image: ProgramImage): Promise<string> {
  const tag = createHash('sha256').update(JSON.stringify(image)).digest('hex').slice(0, 12);
  const name = `${image.name}:${tag}`;
  if ((await docker.listImages({ filters: { reference: [name] } })).length > 0) return name;
  const folder = await mkdtemp(join(tmpdir(), 'stagi-programs-'));
  const root = join(folder, 'root');
  try {
    await copyTestImage(root);
    if (image.packages) await unpack(folder, root, image.packages);
    for (const program of image.programs) await copyProgram(root, program);
    for (const [path, content] of Object.entries(image.scripts ?? {})) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
      await chmod(join(root, path), 0o755);
    }
    await run('tar', ['-C', root, '-cf', join(folder, 'image.tar'), '.']);
    await finished(await docker.importImage(join(folder, 'image.tar'), { repo: image.name, tag }));
    if (!image.changes) return name;
    await mkdir(join(folder, 'build'));
    await writeFile(join(folder, 'build/Dockerfile'), [`FROM ${name}`, ...image.changes].join('\n'));
    const context = { context: join(folder, 'build'), src: ['Dockerfile'] };
    await finished(await docker.buildImage(context, { t: name }));
    return name;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Docker has done it when its answer ends. Throws what that says went wrong. */
async function finished(answer: NodeJS.ReadableStream): Promise<void> {
  let said = '';
  for await (const part of answer) said += part;
  if (said.includes('"error"')) throw new Error(said);
}

async function unpack(folder: string, root: string, packages: readonly string[]): Promise<void> {
  await run('apt-get', ['download', ...packages], { cwd: folder }).catch(async () => {
    await run('apt-get', ['update']);
    await run('apt-get', ['download', ...packages], { cwd: folder });
  });
  for (const file of await readdir(folder))
    if (file.endsWith('.deb')) await run('dpkg', ['-x', join(folder, file), root]);
}

/** A library keeps its path, under which the loader looks for it. */
async function copyProgram(root: string, path: string): Promise<void> {
  const unpacked = join(root, path);
  const isThere = await access(unpacked).then(
    () => true,
    () => false,
  );
  const env = { ...process.env, LD_LIBRARY_PATH: join(root, 'usr/lib/x86_64-linux-gnu') };
  const { stdout } = await run('ldd', [isThere ? unpacked : path], { env });
  const libraries = stdout.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  for (const library of libraries) if (!library.startsWith(root)) await copy(root, library, library);
  if (!isThere) await copy(root, path, path);
}

async function copy(root: string, path: string, from: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await copyFile(await realpath(from), join(root, path));
}
