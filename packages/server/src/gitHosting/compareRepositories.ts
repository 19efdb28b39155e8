import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { exists, removeRepository, repositoryDir } from '../git/repository.ts';
import type { Listed, Place } from '../quarantine/place.ts';
import { quarantineUnknown } from '../quarantine/quarantineUnknown.ts';

const FOLDER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.git$/;

type Surroundings = Pick<Context, 'db' | 'config' | 'repositories' | 'log' | 'meters'>;

/** Quarantines repositories without a project. Those of deleted projects are removed by the projects' own worker. */
export async function compareRepositories(ctx: Surroundings): Promise<void> {
  const { config, repositories } = ctx;
  const place: Place = {
    name: 'repositories',
    list: () => listRepositories(ctx),
    known: (names) => knownRepositories(ctx, names),
    exists: (name) => exists(repositoryDir(config, uuidOf(name))),
    async remove(name) {
      repositories.forget(uuidOf(name));
      await removeRepository(config, uuidOf(name));
    },
  };
  await quarantineUnknown(ctx, place);
}

const uuidOf = (folder: string): string => folder.slice(0, -'.git'.length);

async function* listRepositories({ config }: Surroundings): AsyncGenerator<Listed> {
  const names = await readdir(config.repositoriesDir).catch((error: NodeJS.ErrnoException) => {
    // Before the first project.
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((one) => FOLDER.test(one)).sort()) yield { name, bytes: null };
}

async function knownRepositories({ db }: Surroundings, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ repository: string }>`select repository from project
    where repository = any(${names.map(uuidOf)}::uuid[])`.execute(db);
  return new Set(rows.map(({ repository }) => `${repository}.git`));
}
