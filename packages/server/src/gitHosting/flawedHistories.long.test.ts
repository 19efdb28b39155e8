import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { careFor } from './maintenance.ts';
import { HARMFUL, HARMLESS, writeFlawed } from './testing/flawedHistories.ts';
import { aGitUser, aHostedProject, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ person: ada, machine, token } = await aGitUser(app));
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

const WAYS = ['https', 'ssh'] as const;
const refsOf = async ({ dir }: HostedProject): Promise<string[]> =>
  (await machine.ok(['--git-dir', dir, 'for-each-ref', '--format=%(refname)'])).split('\n').filter(Boolean);

it.each(WAYS)('takes flaws of old programs over %s and shows them, and refuses what does harm', async (way) => {
  const project = await aHostedProject(app, ada);
  // As in a repository from before the platform allowed these.
  await machine.ok(['--git-dir', project.dir, 'config', 'receive.fsck.badTimezone', 'error']);
  const folder = await machine.repository(`flawed-${way}`, way === 'ssh' ? project.ssh : project.https(token));
  const branches: string[] = [];
  for (const [n, history] of HARMLESS.entries()) {
    const sha = await writeFlawed(machine, folder, history);
    await machine.ok(['update-ref', `refs/heads/flaw-${n}`, sha], { cwd: folder });
    branches.push(`flaw-${n}`);
  }
  await machine.ok(['push', '-q', 'origin', 'main', ...branches], { cwd: folder });
  for (const [n, branch] of branches.entries()) {
    const { commit } = await ada.client(api.projectCode.tree, { id: project.id, branch });
    expect([HARMLESS[n]!.flaw, commit?.title]).toEqual([HARMLESS[n]!.flaw, 'old']);
  }
  const logged: unknown[] = [];
  const log = { ...app.ctx.log, error: (found: unknown) => logged.push(found) } as unknown as typeof app.ctx.log;
  await careFor({ db: app.ctx.db, config: app.ctx.config, log }, project.dir, { check: true });
  expect(logged).toEqual([]);

  for (const history of HARMFUL) {
    const sha = await writeFlawed(machine, folder, history);
    const { code, stderr } = await machine.git(['push', '-q', 'origin', `${sha}:refs/heads/evil`], { cwd: folder });
    expect([history.flaw, code]).toEqual([history.flaw, 1]);
    expect(stderr).toMatch(/fsck error|empty filename/);
  }
  expect(await refsOf(project)).not.toContain('refs/heads/evil');
  console.log(`flawed histories over ${way}: n = ${HARMLESS.length} accepted, ${HARMFUL.length} refused`);
});

it('notes the last commit of a project, whatever flaw it has', async () => {
  const folder = await machine.repository('flawed-tips', 'https://not.asked.example');
  for (const history of HARMLESS) {
    const project = await aHostedProject(app, ada);
    const sha = await writeFlawed(machine, folder, history);
    await machine.ok(['push', '-q', project.https(token), `${sha}:refs/heads/old`], { cwd: folder });
    const { entity } = await ada.client(api.projects.view, { id: project.id });
    expect({ flaw: history.flaw, ...entity }).toMatchObject({
      flaw: history.flaw,
      isEmpty: false,
      defaultBranch: 'old',
      lastCommit: { sha, message: 'old', at: expect.stringMatching(/^\d{4}-|^\+\d{6}-/) },
    });
  }
  console.log(`last commits with flaws: n = ${HARMLESS.length}`);
});

const REFUSED_REFS = [
  'refs/pull/1/head',
  'refs/keep-around/x',
  'refs/merge-requests/2/head',
  'refs/replace/x',
  'refs/heads/HEAD',
  'refs/meta/config',
];

it.each(WAYS)('mirrors over %s all but the refs that cannot be pushed', async (way) => {
  const project = await aHostedProject(app, ada);
  const folder = await machine.repository(`mirrored-${way}`, way === 'ssh' ? project.ssh : project.https(token));
  const allowed = ['refs/heads/main', 'refs/heads/topic/one', 'refs/notes/commits', 'refs/tags/v1'];
  for (const ref of [...allowed, ...REFUSED_REFS]) await machine.ok(['update-ref', ref, 'HEAD'], { cwd: folder });
  const first = await machine.git(['push', '--mirror', 'origin'], { cwd: folder });
  expect(first.code).toBe(1);
  for (const ref of REFUSED_REFS) expect(first.stderr).toContain(`remote: ${ref} cannot be pushed: only branches`);
  expect(first.stderr.match(/\[remote rejected\]/g)).toHaveLength(REFUSED_REFS.length);
  expect(await refsOf(project)).toEqual(allowed);
  const { entities } = await ada.client(api.projects.activity, { projectRef: { id: project.id } });
  expect(entities[0]!.refs?.map(({ name }) => name).sort()).toEqual(allowed);

  // The default branch is protected; the others follow.
  await machine.ok(['commit', '-q', '--amend', '-m', 'Rewritten'], { cwd: folder });
  await machine.ok(['update-ref', 'refs/heads/topic/one', 'HEAD'], { cwd: folder });
  const second = await machine.git(['push', '--mirror', 'origin'], { cwd: folder });
  expect(second.stderr).toContain('remote: main cannot be rewritten');
  const hashes = (await machine.ok(['ls-remote', 'origin', 'main', 'topic/one'], { cwd: folder })).trim().split('\n');
  const [main, topic] = hashes.map((line) => line.slice(0, 40));
  const own = (await machine.ok(['rev-parse', 'HEAD'], { cwd: folder })).trim();
  expect(topic).toBe(own);
  expect(main).not.toBe(own);

  // All or nothing, when the client asks for that.
  const third = await machine.git(['push', '--atomic', 'origin', 'HEAD:refs/heads/new', 'HEAD:refs/pull/2/head'], {
    cwd: folder,
  });
  expect(third.code).toBe(1);
  expect(await refsOf(project)).toEqual(allowed);
});
