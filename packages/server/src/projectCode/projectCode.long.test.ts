import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runGit } from '../git/run.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aProjectToRead } from './testing/aProjectToRead.ts';
import type { CodeProject } from './testing/aRepository.ts';

let app: TestApp;
let owner: Person;
let project: CodeProject;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp('Ada');
  project = await aProjectToRead(app, owner);
});
afterAll(() => app?.close());

it('the tree of a commit names the same last commits as git log, with and without a commit-graph', async () => {
  let compared = 0;
  for (const graph of [false, true]) {
    if (graph) await runGit(project.dir, ['commit-graph', 'write', '--reachable', '--changed-paths']);
    for (const sha of project.shas) {
      for (const path of ['', 'src']) {
        const { entries } = await owner.client(api.projectCode.tree, { id: project.id, sha, path });
        for (const entry of entries) {
          const { stdout } = await runGit(project.dir, ['log', '-1', '--format=%H', sha, '--', entry.path]);
          expect(entry.lastCommit?.sha, `${entry.path} at ${sha}`).toBe(stdout.toString().trim());
          compared += 1;
        }
      }
    }
    app.ctx.repositories.forget(project.dir.slice(-40, -4));
  }
  console.log(`last commits compared with git log: n = ${compared}`);
  expect(compared).toBeGreaterThan(100);
});
