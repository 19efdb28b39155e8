import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../context.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { careFor, careForAll } from './maintenance.ts';
import { addSshKey, aHostedProject, aMachine, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  ada = await app.signUp('Ada');
  machine = aMachine();
  await addSshKey(ada, await machine.sshKey());
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

const DAY_MS = 24 * 60 * 60_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

interface Line {
  level: number;
  msg: string;
  dir?: string;
  found?: string;
}
const ERROR = 50;

/** The platform at an hour of a day (UTC), and what it logs. */
function atHour(hour: number): { ctx: Context; lines: Line[] } {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const now = new Date();
  now.setUTCHours(hour, 30);
  return { ctx: { ...app.ctx, log, clock: { ...app.ctx.clock, now: () => now } } as Context, lines };
}

let folders = 0;

/** A project with two pushes, whose objects are loose. */
async function loose(): Promise<{
  project: HostedProject;
  folder: string;
  git: (...args: string[]) => Promise<string>;
}> {
  const project = await aHostedProject(app, ada);
  folders += 1;
  const folder = await machine.repository(`care-${folders}`, project.ssh);
  for (const n of [0, 1]) {
    await machine.commit(folder, `file-${n}`, `content ${n} ${project.id}`);
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
  }
  for (const name of packsOf(project)) {
    const pack = readFileSync(join(project.dir, name));
    for (const file of filesIn(project.dir, 'objects/pack'))
      if (file.startsWith(name.slice(0, -'pack'.length))) rmSync(join(project.dir, file), { force: true });
    await machine.ok(['--git-dir', project.dir, 'unpack-objects', '-q'], { inputBytes: pack });
  }
  return { project, folder, git: (...args) => machine.ok(['--git-dir', project.dir, ...args]) };
}

const packsOf = ({ dir }: HostedProject): string[] =>
  filesIn(dir, 'objects/pack').filter((name) => name.endsWith('.pack'));

const objectPath = ({ dir }: HostedProject, id: string): string => join(dir, 'objects', id.slice(0, 2), id.slice(2));

/** An object that nothing refers to. */
async function unreachable(project: HostedProject, content: string, made: Date): Promise<string> {
  const id = (await machine.ok(['--git-dir', project.dir, 'hash-object', '-w', '--stdin'], { input: content })).trim();
  utimesSync(objectPath(project, id), made, made);
  return id;
}

/** Every file of the objects and refs, with its content. */
function contentsOf({ dir }: HostedProject): Map<string, string> {
  const files = ['objects', 'refs', 'packed-refs']
    .filter((name) => existsSync(join(dir, name)))
    .flatMap((name) => (name === 'packed-refs' ? [name] : filesIn(dir, name)));
  return new Map(files.map((name) => [name, readFileSync(join(dir, name), 'base64')]));
}

const filesIn = (dir: string, folder: string): string[] =>
  readdirSync(join(dir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .sort();

const STAMP = 'stagi-cared-for';
const stampOf = ({ dir }: HostedProject): string => join(dir, STAMP);

describe('the care of a repository', () => {
  it('packs what is loose, keeps every reachable object, and removes only what nothing refers to for two weeks', async () => {
    const { project, folder, git } = await loose();
    await machine.commit(folder, 'file-2', 'packed');
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
    await sql`update project set size_bytes = 1 where id = ${project.id}`.execute(app.ctx.db);
    const reachable = await git('rev-list', '--objects', '--all');
    const [old, young] = [
      await unreachable(project, 'old', daysAgo(15)),
      await unreachable(project, 'young', daysAgo(13)),
    ];
    expect(await git('count-objects', '-v')).toMatch(/^count: 11$/m);
    const { ctx, lines } = atHour(2);
    await careFor(ctx, project.dir, { check: true });
    expect(lines).toEqual([]);
    expect(await git('rev-list', '--objects', '--all')).toBe(reachable);
    const counted = await git('count-objects', '-v');
    // The young one may stay loose.
    expect(counted).toMatch(/^count: [01]$/m);
    expect(counted).toMatch(/^packs: [12]$/m);
    expect(counted).toMatch(/^garbage: 0$/m);
    const all = await git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)');
    expect(all).not.toContain(old);
    expect(all).toContain(young);
    for (const line of reachable.trim().split('\n')) expect(all).toContain(line.slice(0, 40));
    expect(await git('fsck', '--full', '--strict')).toContain(`dangling blob ${young}`);
    // The size that the project shows is that of now.
    const { entity } = await ada.client(api.projects.view, { id: project.id });
    expect(entity.sizeBytes).toBeGreaterThan(1);
  });

  const DAMAGES: Record<string, (file: string) => void> = {
    'changed bytes': (file) => {
      const bytes = readFileSync(file);
      bytes[bytes.length - 5]! ^= 0xff;
      chmodSync(file, 0o644);
      writeFileSync(file, bytes);
    },
    'a truncated object': (file) => {
      chmodSync(file, 0o644);
      writeFileSync(file, readFileSync(file).subarray(0, 8));
    },
    'an empty object': (file) => {
      chmodSync(file, 0o644);
      writeFileSync(file, '');
    },
  };
  it.each(Object.entries(DAMAGES))('reports %s and changes nothing', async (_what, damage) => {
    const { project, git } = await loose();
    await unreachable(project, 'old', daysAgo(30));
    const blob = (await git('rev-parse', 'main:file-1')).trim();
    damage(objectPath(project, blob));
    const before = contentsOf(project);
    const { ctx, lines } = atHour(2);
    await careFor(ctx, project.dir, { check: true });
    expect(lines).toMatchObject([
      { level: ERROR, msg: 'a repository is damaged: restore it from a backup', dir: project.dir },
    ]);
    expect(lines[0]!.found).toContain(blob);
    expect(contentsOf(project)).toEqual(before);
  });
});

it('checks each repository once a week, at night', async () => {
  const [{ project: due }, { project: cared }] = [await loose(), await loose()];
  writeFileSync(stampOf(due), '');
  writeFileSync(stampOf(cared), '');
  utimesSync(stampOf(due), daysAgo(8), daysAgo(8));
  utimesSync(stampOf(cared), daysAgo(6), daysAgo(6));
  // A damage of either is found when it is checked.
  for (const project of [due, cared]) {
    const head = (await machine.ok(['--git-dir', project.dir, 'rev-parse', 'main:file-0'])).trim();
    chmodSync(objectPath(project, head), 0o644);
    writeFileSync(objectPath(project, head), '');
  }
  const reported = ({ lines }: { lines: Line[] }): (string | undefined)[] =>
    lines.filter(({ level }) => level === ERROR).map(({ dir }) => dir);
  const { signal } = new AbortController();

  for (const hour of [0, 5, 12, 23]) {
    const day = atHour(hour);
    await careForAll(day.ctx, signal);
    expect([hour, reported(day)]).toEqual([hour, []]);
  }
  const night = atHour(1);
  await careForAll(night.ctx, signal);
  expect(reported(night)).toEqual([due.dir]);
  // Once a week.
  const again = atHour(4);
  await careForAll(again.ctx, signal);
  expect(reported(again)).toEqual([]);
});

it('repacks a repository with many packs at any hour', async () => {
  const { project, git } = await loose();
  const reachable = await git('rev-list', '--objects', '--all');
  for (let n = 0; n < 51; n++) {
    const id = await unreachable(project, `pack ${n}`, new Date());
    await machine.ok(['--git-dir', project.dir, 'pack-objects', '-q', join(project.dir, 'objects/pack/pack')], {
      input: `${id}\n`,
    });
  }
  expect(packsOf(project)).toHaveLength(51);
  const { ctx, lines } = atHour(12);
  await careForAll(ctx, new AbortController().signal);
  expect(lines).toEqual([]);
  expect(packsOf(project).length).toBeLessThan(4);
  expect(await git('rev-list', '--objects', '--all')).toBe(reachable);
});
