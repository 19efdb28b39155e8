import { api } from '@stagi/contract/api.ts';
import { createRepository, repositoryDir } from '../../git/repository.ts';
import { importCommits, type NewCommit } from '../../git/testing/fastImport.ts';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';

export interface CodeProject {
  id: number;
  dir: string;
  /** Hashes of the commits, in the order of the list. */
  shas: string[];
}

/** A project whose repository has these commits, made by git itself. */
export async function aProjectWith(
  app: TestApp,
  owner: Person,
  slug: string,
  commits: readonly NewCommit[],
  options: Parameters<typeof importCommits>[2] = {},
): Promise<CodeProject> {
  const { entity } = await owner.client(api.projects.create, { title: slug, slug });
  const { repository } = await app.ctx.db
    .selectFrom('project')
    .select('repository')
    .where('id', '=', entity.id)
    .executeTakeFirstOrThrow();
  await createRepository(app.ctx.config, repository);
  const dir = repositoryDir(app.ctx.config, repository);
  return { id: entity.id, dir, shas: commits.length > 0 ? await importCommits(dir, commits, options) : [] };
}
