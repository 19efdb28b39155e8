import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { repositoryDir } from '@stagi/server/src/git/repository.ts';
import { runGit } from '@stagi/server/src/git/run.ts';
import { blobName } from '@stagi/server/src/objects/blobs.ts';
import { openStores } from '@stagi/server/src/objects/stores.ts';
import pg from 'pg';

export interface Compared {
  objects: number;
  repositories: number;
  commits: number;
  wrong: string[];
}

/** Holds the rows of a restored platform against its bytes: every object by its ETag, every repository by `git fsck`. */
export async function compareRestored(databaseUrl: string, dataDir: string): Promise<Compared> {
  const found: Compared = { objects: 0, repositories: 0, commits: 0, wrong: [] };
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await compareObjects(client, dataDir, found);
    await compareRepositories(client, join(dataDir, 'repositories'), found);
  } finally {
    await client.end();
  }
  return found;
}

async function compareObjects(client: pg.Client, dataDir: string, found: Compared): Promise<void> {
  const { blobs } = await openStores({ dataDir, s3Locations: [], filesLocation: 'local' });
  const store = blobs.get('local')!;
  const { rows } = await client.query<{ blob: string; etag: string }>('select blobs[1] as blob, etag from s3_object');
  for (const { blob, etag } of rows) {
    const hash = createHash('md5');
    try {
      for await (const chunk of await store.get(blobName(blob))) hash.update(chunk as Buffer);
    } catch (error) {
      found.wrong.push(`object ${blob}: ${(error as Error).message}`);
      continue;
    }
    found.objects += 1;
    if (hash.digest('hex') !== etag.replaceAll('"', '')) found.wrong.push(`object ${blob} has other bytes`);
  }
}

async function compareRepositories(client: pg.Client, repositoriesDir: string, found: Compared): Promise<void> {
  const { rows } = await client.query<{ repository: string; sha: string | null }>(
    'select repository, last_commit_sha as sha from project where closed_at is null',
  );
  for (const { repository, sha } of rows) {
    const dir = repositoryDir({ repositoriesDir }, repository);
    try {
      await runGit(dir, ['fsck', '--full', '--strict', '--no-dangling']);
      found.repositories += 1;
      if (sha === null) continue;
      // Repositories are read after the rows: they may be ahead, and never behind.
      await runGit(dir, ['merge-base', '--is-ancestor', sha, 'main']);
      found.commits += 1;
    } catch (error) {
      found.wrong.push(`repository ${repository}: ${(error as Error).message}`);
    }
  }
}
