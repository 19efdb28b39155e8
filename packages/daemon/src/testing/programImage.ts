import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyTestImage, docker } from './image.ts';

const run = promisify(execFile);

/** The things that an image has besides the tools of the test image. */
export interface ProgramImage {
  /** Without a tag: that names its content. */
  name: string;
  /** Programs of this machine, by path, which are copied with their libraries. */
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

/** A library keeps its path, under which the loader looks for it. */
export async function copyProgram(root: string, path: string, from = path): Promise<void> {
  const { stdout } = await run('ldd', [from]);
  const libraries = stdout.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  for (const library of libraries) await copy(root, library, library);
  await copy(root, path, from);
}

async function copy(root: string, path: string, from: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await copyFile(await realpath(from), join(root, path));
}
