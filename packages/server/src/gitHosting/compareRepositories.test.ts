import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRepository } from '../git/repository.ts';
import { approveRemoval } from '../quarantine/review.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { compareRepositories } from './compareRepositories.ts';
import { aHostedProject } from './testing/gitClient.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

const folders = () => readdirSync(app.ctx.config.repositoriesDir).sort();
const noted = () => app.ctx.db.selectFrom('unknown_bytes').select(['place', 'name', 'bytes']).execute();

it('quarantines a repository without a project, and none of a deleted one', async () => {
  const ada = await app.signUp('Ada');
  const projects = [await aHostedProject(app, ada), await aHostedProject(app, ada)];
  for (const status of ['deleting', 'deleted'])
    await sql`update project set status = ${status}, closed_at = now() where id = ${projects[0]!.id}`.execute(
      app.ctx.db,
    );
  const unknown = randomUUID();
  await createRepository(app.ctx.config, unknown);
  mkdirSync(join(app.ctx.config.repositoriesDir, 'notes.git'));
  const before = folders();
  await compareRepositories(app.ctx);
  expect(await noted()).toEqual([{ place: 'repositories', name: `${unknown}.git`, bytes: null }]);
  await sql`update unknown_bytes set found_at = now() - interval '8 days'`.execute(app.ctx.db);
  await compareRepositories(app.ctx);
  // One of three is more than 1 %.
  expect(folders()).toEqual(before);
  await approveRemoval(app.ctx.db, 'repositories');
  await compareRepositories(app.ctx);
  expect(folders()).toEqual(before.filter((name) => name !== `${unknown}.git`));
  expect(await noted()).toEqual([]);
});
