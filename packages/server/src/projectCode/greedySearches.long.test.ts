import { availableParallelism } from 'node:os';
import { api } from '@stagi/contract/api.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import {
  as,
  asToken,
  bytesOfCall,
  childrenLike,
  comesToRest,
  openWire,
  portOf,
  promptly,
  times,
  type Wire,
} from '../testing/greed.ts';
import type { Person } from '../testing/person.ts';
import { aProjectWith, type CodeProject } from './testing/aRepository.ts';
import { addShuffledFile, addTreeBomb } from './testing/treeBomb.ts';

/** A quarter of the processes that read for pages. */
const SHARE = Math.max(8, 4 * availableParallelism()) / 4;
const AT_ONCE = 16;

let app: TestApp;
let eve: Person;
let ben: Person;
let bens: CodeProject;
/** Each in a workspace of its own. */
let bombs: { project: CodeProject; bomb: string; token: string; workspaceId: number }[];
let wires: Wire[] = [];

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  const { entity } = await eve.client(api.clients.create, { name: 'Another' });
  bombs = [];
  for (const workspaceId of [eve.workspaceId, entity.clientId]) {
    eve.useWorkspace(workspaceId);
    const project = await aProjectWith(app, eve, `bomb-${workspaceId}`, [
      { message: 'Begin', files: { 'README.md': 'hello\n' } },
    ]);
    const bomb = await addTreeBomb(project.dir, 9);
    await addShuffledFile(project.dir, 'shuffled', 'shuffled.txt', 40_000, 30);
    const { token } = await anApiToken(app.ctx, eve);
    bombs.push({ project, bomb, token, workspaceId });
  }
  bens = await aProjectWith(app, ben, 'small', [
    { message: 'Begin', files: { 'README.md': 'hello\n', 'src/a.txt': 'a line of text\n' } },
    { message: 'Go on', files: { 'src/b.txt': 'another line of text\n' } },
  ]);
});
afterAll(() => app?.close());

/** Processes of git that read for the attacker's pages; those that wait for questions about objects are not counted. */
const readers = (): number[] =>
  bombs.flatMap(({ project }) => childrenLike(/^git (?!cat-file)/, `GIT_DIR=${project.dir}`));

// Nobody waits for their answers any more, and no process of theirs may be left.
afterEach(async () => {
  for (const wire of wires) wire.close();
  wires = [];
  const end = (): number => {
    const left = readers();
    for (const pid of left) process.kill(pid, 'SIGKILL');
    return left.length;
  };
  await comesToRest(end, 0);
});

type Bomb = (typeof bombs)[number];
const search = (of: Bomb, query: string, headers = as(eve, of.workspaceId)): string =>
  bytesOfCall(api.projectCode.search, { id: of.project.id, query }, headers);

const ATTACKS: [what: string, count: number, bytes: (bomb: Bomb, n: number) => string][] = [
  ['searches for what is nowhere', AT_ONCE, () => search(bombs[0]!, 'nowhere')],
  ['searches for what is everywhere', AT_ONCE, () => search(bombs[0]!, 'name')],
  ['searches in two workspaces', AT_ONCE, (bomb) => search(bomb, 'nowhere')],
  ['searches with API tokens', AT_ONCE, (bomb) => search(bomb, 'nowhere', asToken(bomb.token))],
  [
    'searches below a folder',
    AT_ONCE,
    ({ project, workspaceId }, n) =>
      bytesOfCall(
        api.projectCode.search,
        { id: project.id, query: 'nowhere', path: `name${n % 10}/name1`, matchCase: true },
        as(eve, workspaceId),
      ),
  ],
  [
    'pages of its commit',
    AT_ONCE,
    ({ project, bomb, workspaceId }) =>
      bytesOfCall(api.projectCode.commit, { id: project.id, sha: bomb }, as(eve, workspaceId)),
  ],
  [
    'blame of what was shuffled',
    AT_ONCE,
    ({ project, workspaceId }) =>
      bytesOfCall(
        api.projectCode.blame,
        { id: project.id, branch: 'shuffled', path: 'shuffled.txt' },
        as(eve, workspaceId),
      ),
  ],
  [
    'all of them',
    48,
    ({ project, bomb, workspaceId }, n) =>
      n % 3 === 0
        ? search(bombs[n % 2]!, 'nowhere')
        : bytesOfCall(api.projectCode.commit, { id: project.id, sha: bomb }, as(eve, workspaceId)),
  ],
];

const PAGES: Record<string, () => Promise<{ isSuccess: true }>> = {
  'a folder': () => ben.client(api.projectCode.tree, { id: bens.id }),
  'a file': () => ben.client(api.projectCode.blob, { id: bens.id, path: 'src/a.txt' }),
  'a history': () => ben.client(api.projectCode.commits, { id: bens.id, path: 'src' }),
  'a search': () => ben.client(api.projectCode.search, { id: bens.id, query: 'another line' }),
  blame: () => ben.client(api.projectCode.blame, { id: bens.id, path: 'src/b.txt' }),
};

const pagesOfAnother = async (): Promise<void> => {
  for (const [what, open] of Object.entries(PAGES))
    await promptly(`another’s page of ${what}`, async () => expect(await open()).toMatchObject({ isSuccess: true }));
};

describe('alone on the platform', () => {
  it('one gets eight searches, and eight pages, at once or in turn', async () => {
    for (const open of Object.values(PAGES)) {
      const all = await times(8, open);
      expect(all.map(({ isSuccess }) => isSuccess)).toEqual(all.map(() => true));
    }
  });

  it('the whole repository with the tree of trees can still be read', async () => {
    const [{ project, workspaceId }] = bombs as [Bomb];
    eve.useWorkspace(workspaceId);
    const { entries } = await eve.client(api.projectCode.tree, { id: project.id });
    expect(entries).toHaveLength(10);
  });
});

describe('others read code while one person asks for a tree of trees of trees:', () => {
  it.each(ATTACKS)('%s', async (_, count, bytes) => {
    wires = await times(count, (n) => openWire(portOf(app.url), bytes(bombs[n % 2]!, n)));
    await expect.poll(() => readers().length).toBeGreaterThan(0);
    const held = readers().length;
    await pagesOfAnother();
    expect(Math.max(held, readers().length)).toBeLessThanOrEqual(SHARE);
  });

  it('and hangs up each time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const all = await times(AT_ONCE, (n) => openWire(portOf(app.url), search(bombs[n % 2]!, 'nowhere')));
      for (const wire of all) wire.close();
    }
    await expect.poll(() => readers().length).toBeGreaterThan(0);
    await pagesOfAnother();
    expect(readers().length).toBeLessThanOrEqual(SHARE);
  });
});
