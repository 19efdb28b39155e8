import { execFile } from 'node:child_process';
import { access, copyFile, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';

const run = promisify(execFile);
const TOOLS = ['sh', 'cat', 'date', 'dd', 'echo', 'false', 'head', 'ls', 'mkdir', 'seq', 'sleep', 'tr', 'true', 'yes'];

export const TEST_IMAGE = 'stagi-test:1';
export const docker = new Docker();

/** A small image that needs no registry: Debian's static busybox, imported once. Returns its name. */
export async function ensureTestImage(name = TEST_IMAGE): Promise<string> {
  if ((await docker.listImages({ filters: { reference: [name] } })).length > 0) return name;
  const folder = await mkdtemp(join(tmpdir(), 'stagi-image-'));
  try {
    await copyTestImage(join(folder, 'root'));
    await run('tar', ['-C', join(folder, 'root'), '-cf', join(folder, 'image.tar'), '.']);
    const [repo, tag] = name.split(':');
    const answer = await docker.importImage(join(folder, 'image.tar'), { repo, tag });
    for await (const _ of answer) {
      // Docker has imported it when its answer ends.
    }
    return name;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Puts the files of the test image below `root`. */
export async function copyTestImage(root: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stagi-busybox-'));
  try {
    await mkdir(join(root, 'bin'), { recursive: true });
    await mkdir(join(root, 'tmp'));
    await copyFile(await findBusybox(folder), join(root, 'bin/busybox'));
    for (const tool of TOOLS) await symlink('busybox', join(root, 'bin', tool));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function findBusybox(folder: string): Promise<string> {
  for (const path of ['/bin/busybox', '/usr/bin/busybox']) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists && (await isStatic(path))) return path;
  }
  await run('apt-get', ['download', 'busybox-static'], { cwd: folder }).catch(async () => {
    await run('apt-get', ['update']);
    await run('apt-get', ['download', 'busybox-static'], { cwd: folder });
  });
  const pack = (await readdir(folder)).find((file) => file.endsWith('.deb'));
  if (!pack) throw new Error('no static busybox on this machine, and apt-get brought none');
  await run('dpkg', ['-x', join(folder, pack), join(folder, 'deb')]);
  const shipped = [join(folder, 'deb/bin/busybox'), join(folder, 'deb/usr/bin/busybox')];
  for (const path of shipped) {
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  throw new Error('the package busybox-static holds no busybox');
}

async function isStatic(path: string): Promise<boolean> {
  const { stdout, stderr } = await run('ldd', [path]).catch((error: { stdout: string; stderr: string }) => error);
  return /not a dynamic|statically/.test(stdout + stderr);
}
