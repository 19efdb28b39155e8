import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BlobStore } from '@stagi/s3/blobStore.ts';
import type { Config } from '../config/config.ts';
import { createRepository, exists, repositoryDir } from '../git/repository.ts';
import { runGit, spawnGit } from '../git/run.ts';
import { BackupRefused, type Manifest, readPart, writePart } from './archive.ts';

type Repository = Manifest['repositories'][number];
type Place = Pick<Config, 'repositoriesDir'>;

const FETCH_MS = 3_600_000;

/**
 * Stores all that refs lead to, of one moment, also while others push. Null: there is no such repository, or it was
 * removed meanwhile.
 */
export async function bundleRepository(
  place: Place,
  uuid: string,
  store: BlobStore,
  name: string,
): Promise<Repository | null> {
  const dir = repositoryDir(place, uuid);
  try {
    return await bundle(dir, uuid, store, name);
  } catch {
    // An import that failed may have pruned what a ref had led to when it was read.
    try {
      return await bundle(dir, uuid, store, name);
    } catch (error) {
      if (await exists(dir)) throw error;
      return null;
    }
  }
}

async function bundle(dir: string, uuid: string, store: BlobStore, name: string): Promise<Repository> {
  const head = (await readFile(join(dir, 'HEAD'), 'utf8')).trim();
  const { stdout } = await runGit(dir, ['for-each-ref', '--count=1']);
  // Git makes no bundle of nothing.
  if (stdout.length === 0) return { uuid, head, part: null };
  return { uuid, head, part: await writePart(store, name, bundleOf(dir)) };
}

async function* bundleOf(dir: string): AsyncGenerator<Uint8Array> {
  const git = spawnGit(dir, ['bundle', 'create', '--quiet', '-', '--all']);
  const closed = once(git, 'close') as Promise<[number | null]>;
  let said = '';
  git.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  git.stdin.end();
  yield* git.stdout;
  const [code] = await closed;
  if (code !== 0) throw new BackupRefused(`The repository ${dir} cannot be read (${code}): ${said}`);
}

/** Makes the repository anew from its bundle; a second run is harmless. Throws `BackupRefused` for a damaged bundle. */
export async function unbundleRepository(
  place: Place,
  { uuid, head, part }: Repository,
  store: BlobStore,
): Promise<void> {
  await createRepository(place, uuid);
  const dir = repositoryDir(place, uuid);
  if (part) {
    const bundle = join(dir, 'restored.bundle');
    try {
      await pipeline(readPart(store, part), createWriteStream(bundle, { mode: 0o600 }));
      await fetchBundle(dir, bundle);
    } finally {
      await rm(bundle, { force: true });
    }
  }
  await writeFile(join(dir, 'HEAD'), `${head}\n`, { flush: true });
}

async function fetchBundle(dir: string, bundle: string): Promise<void> {
  // The bundle is our own: flaws that were let in once, or by an older version, are no reason to lose a repository.
  const settings = ['protocol.file.allow=always', 'transfer.fsckObjects=false', 'fetch.fsckObjects=false'];
  const options = settings.flatMap((setting) => ['-c', setting]);
  await runGit(dir, [...options, 'fetch', '--quiet', '--no-tags', '--', bundle, '+refs/*:refs/*'], {
    timeoutMs: FETCH_MS,
  });
}
