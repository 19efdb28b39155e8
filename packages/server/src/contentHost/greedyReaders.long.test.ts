import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { aProjectWith } from '../projectCode/testing/aRepository.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { childrenLike, comesToRest, headOf, openWire, portOf, promptly, times, type Wire } from '../testing/greed.ts';
import { noise } from '../testing/noise.ts';
import type { Person } from '../testing/person.ts';
import { visitContent } from './testing/visitContent.ts';

/** A quarter of the raw files that are read at a time. */
const SHARE = 16;
const AT_ONCE = 40;
const LARGE_MIB = 20;

let app: TestApp;
let eve: Person;
let ben: Person;
/** Where Eve reads files, in one workspace and in another, and Ben. */
let links: [string, string];
let evesProject: number;
let bens: string;

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  const files = { 'large.bin': noise(LARGE_MIB), 'small.txt': 'a line\n', 'held.bin': noise(8) };
  const linkOf = async (person: Person, slug: string): Promise<[id: number, link: string]> => {
    const { id } = await aProjectWith(app, person, slug, [{ message: 'Begin', files }]);
    return [id, await aLink(person, id)];
  };
  [, bens] = await linkOf(ben, 'bens');
  const first = await linkOf(eve, 'eves');
  const home = eve.workspaceId;
  const { entity } = await eve.client(api.clients.create, { name: 'Another' });
  eve.useWorkspace(entity.clientId);
  const [, second] = await linkOf(eve, 'eves-other');
  eve.useWorkspace(home);
  evesProject = first[0];
  links = [first[1], second];
});
afterAll(() => app?.close());

const aLink = async (person: Person, id: number): Promise<string> =>
  (await person.client(api.projectCode.tree, { id })).raw!.link;

const processes = (): number => childrenLike(/^git cat-file blob/).length;
const accepted = (wires: readonly Wire[]): number => wires.filter((wire) => wire.status() === 200).length;

const get = (link: string, file: string, headers: Record<string, string> = {}): string => {
  const url = new URL(link + file);
  return headOf('GET', url.pathname + url.search, { host: url.host, ...headers });
};

/** From an address of its own: one address may ask 600 times a minute. */
type Open = (from: string, n: number) => Promise<Wire>;

const stopping =
  (bytes: (n: number) => string): Open =>
  (from, n) =>
    openWire(portOf(app.url), bytes(n), { reading: 'beginning', from });

const ATTACKS: [what: string, count: number, open: Open][] = [
  ['read nothing of a large file', AT_ONCE, stopping(() => get(links[0], 'large.bin'))],
  [
    'read a byte of it now and then',
    AT_ONCE,
    (from) => openWire(portOf(app.url), get(links[0], 'large.bin'), { reading: 'slowly', from }),
  ],
  ['download it and read nothing', AT_ONCE, stopping(() => get(links[0], 'large.bin?download'))],
  ['ask for a part and read nothing', AT_ONCE, stopping(() => get(links[0], 'large.bin', { range: 'bytes=1-' }))],
  ['read nothing of files in two workspaces', AT_ONCE, stopping((n) => get(links[n % 2]!, 'large.bin'))],
  ['read nothing of files that are held in memory', AT_ONCE, stopping(() => get(links[0], 'held.bin'))],
  [
    'ask five times on each connection and read nothing',
    AT_ONCE / 5,
    stopping(() => get(links[0], 'large.bin').repeat(5)),
  ],
  [
    'have a link each and read nothing',
    AT_ONCE,
    async (from) =>
      openWire(portOf(app.url), get(await aLink(eve, evesProject), 'large.bin'), { reading: 'beginning', from }),
  ],
];

describe('others read files of code while those of one person', () => {
  it.each(ATTACKS.map((attack, index) => [...attack, `127.0.0.${index + 2}`] as const))(
    '%s',
    async (what, count, open, from) => {
      const wires = await times(count, (n) => open(from, n));
      const close = (): void => wires.forEach((wire) => void wire.close());
      onTestFinished(close);
      await expect.poll(() => wires.filter((wire) => wire.status() !== null).length).toBe(count);
      const held = await comesToRest(processes);
      console.log(`greed: ${held} processes, ${accepted(wires)} of ${count} answered with the file: ${what}`);
      for (const [file, length] of [
        ['small.txt', 7],
        ['large.bin', LARGE_MIB * 1024 * 1024],
      ] as const) {
        const { status, body } = await promptly(`another’s ${file}`, () => visitContent(app, bens + file));
        expect([status, body.length]).toEqual([200, length]);
      }
      expect(held).toBeLessThanOrEqual(SHARE);
      expect(accepted(wires)).toBeLessThanOrEqual(SHARE);
      expect(wires.map((wire) => wire.status())).toEqual(wires.map(() => expect.toBeOneOf([200, 429])));
      close();
      await expect.poll(processes).toBe(0);
      // The places are given back.
      expect((await visitContent(app, `${links[0]}small.txt`)).status).toBe(200);
    },
  );
});

describe('alone on the platform', () => {
  it('one reads eight large files at once', async () => {
    const wires = await times(7, () => openWire(portOf(app.url), get(links[0], 'large.bin'), { reading: 'beginning' }));
    onTestFinished(() => wires.forEach((wire) => void wire.close()));
    await expect.poll(processes).toBe(7);
    const { status, body, isComplete } = await visitContent(app, `${links[0]}large.bin`);
    expect([status, body.length, isComplete]).toEqual([200, LARGE_MIB * 1024 * 1024, true]);
    expect(accepted(wires)).toBe(7);
  });

  it('one sees a page of eight small files', async () => {
    const answers = await times(8, () => visitContent(app, `${links[0]}small.txt`));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});
