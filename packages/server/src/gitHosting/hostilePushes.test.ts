import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aGitUser, aHostedProject, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
beforeAll(async () => {
  app = await startTestApp();
  ({ person: ada, machine } = await aGitUser(app));
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

describe('pushes of hostile objects and refs', () => {
  it('are refused, and nothing of them is kept', async () => {
    const own = await aHostedProject(app, ada);
    const folder = await machine.repository('hostile', own.ssh);
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
    const blob = (await machine.ok(['rev-parse', 'HEAD:README.md'], { cwd: folder })).trim();
    const entries: [string, string][] = [
      ['100644', '.git'],
      ['40000', '.git'],
      ['100644', '..'],
      ['100644', '.'],
      ['100644', '.GIT'],
      ['100644', 'git~1'],
      ['100644', 'a/b'],
      ['120000', '.gitmodules'],
      ['100644', ''],
    ];
    let refused = 0;
    const before = objectsOf(own);
    for (const [mode, name] of entries) {
      const id = mode === '40000' ? (await machine.ok(['rev-parse', 'HEAD^{tree}'], { cwd: folder })).trim() : blob;
      const tree = await machine.ok(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
        cwd: folder,
        inputBytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
      });
      const commit = (await machine.ok(['commit-tree', '-m', 'x', tree.trim()], { cwd: folder })).trim();
      const { code } = await machine.git(['push', '-q', 'origin', `${commit}:refs/heads/evil`], { cwd: folder });
      expect([name, code]).toEqual([name, 1]);
      refused += 1;
    }
    for (const ref of [
      'refs/replace/x',
      'refs/pull/1/head',
      'refs/meta/config',
      'refs/heads/HEAD',
      'refs/original/x',
      'refs/stash',
      'refs/hidden/refs/heads/x',
    ]) {
      const { code, stderr } = await machine.git(['push', '-q', 'origin', `HEAD:${ref}`], { cwd: folder });
      expect([ref, code]).toEqual([ref, 1]);
      expect(stderr).toContain('remote: refs/');
      refused += 1;
    }
    expect(await machine.ok(['--git-dir', own.dir, 'for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main\n');
    expect(objectsOf(own)).toEqual(before);
    console.log(`hostile pushes: n = ${refused}, 0 accepted`);
  });
});

const objectsOf = ({ dir }: HostedProject): string[] =>
  readdirSync(join(dir, 'objects'), { recursive: true })
    .map(String)
    .filter((name) => !name.includes('commit-graph'))
    .sort();
