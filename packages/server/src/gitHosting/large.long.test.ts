import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aGitUser, aHostedProject, type Machine } from './testing/gitClient.ts';
import { bytesIn, LARGE, writeNoise } from './testing/noise.ts';

const MiB = 1024 * 1024;

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

it('takes 600 MB in two pushes, one by each way, and refuses them plainly as one', { timeout: 120_000 }, async () => {
  const project = await aHostedProject(app, ada);
  const folder = await machine.repository('large', project.ssh);
  for (const way of ['https', 'ssh'] as const) {
    await writeNoise(join(folder, `${way}.bin`), 300_000_000);
    await machine.ok([...LARGE, 'add', '-A'], { cwd: folder });
    await machine.ok([...LARGE, 'commit', '-q', '-m', way], { cwd: folder });
    const began = performance.now();
    await machine.ok([...LARGE, 'push', '-q', way === 'ssh' ? project.ssh : project.https(token), 'main'], {
      cwd: folder,
    });
    console.log(`300 MB over ${way}: pushed in ${((performance.now() - began) / 1000).toFixed(1)} s (n = 1)`);
  }
  const { entity } = await ada.client(api.projects.view, { id: project.id });
  expect(entity.sizeBytes).toBeGreaterThan(600_000_000);

  const other = await aHostedProject(app, ada);
  const { code, stderr } = await machine.git([...LARGE, 'push', '-q', other.https(token), 'main'], { cwd: folder });
  expect(code).toBe(1);
  expect(stderr).toMatch(/remote: fatal: pack exceeds maximum allowed size \(512\.00 MiB\)/);
  expect(await machine.ok(['--git-dir', other.dir, 'for-each-ref'])).toBe('');
  expect(bytesIn(other.dir)).toBeLessThan(MiB);
  await machine.run('rm', ['-rf', folder, project.dir]);
});
