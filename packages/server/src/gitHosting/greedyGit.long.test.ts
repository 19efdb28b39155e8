import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { importCommits } from '../git/testing/fastImport.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  childrenLike,
  comesToRest,
  EVERY_MS,
  headOf,
  openWire,
  portOf,
  promptly,
  times,
  type Wire,
} from '../testing/greed.ts';
import { noise } from '../testing/noise.ts';
import type { Person } from '../testing/person.ts';
import type { Service } from './gitService.ts';
import { addSshKey, aHostedProject, aMachine, aToken, type HostedProject, type Machine } from './testing/gitClient.ts';
import { beginCommand, beginningOfPush, chunkOf, manyRefs, openSsh, wantOf } from './testing/halfTransfers.ts';

/** A quarter of the transfers. */
const SHARE = 16;
const AT_ONCE = 40;
const UPLOAD = 'git-upload-pack';
const RECEIVE = 'git-receive-pack';

/** A project of the attacker, in a workspace of its own. */
interface Target {
  project: HostedProject;
  path: string;
  password: string;
  sha: string;
}

let app: TestApp;
let eve: Person;
let evesMachine: Machine;
let privateKey: string;
/** Twice: what one workspace may hold is not what a person may. */
let targets: Target[];
/** With more refs than connections hold. */
let wide: Target[];
let ben: Person;
let bensMachine: Machine;
let victim: { https: string; ssh: string };

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  [evesMachine, bensMachine] = [aMachine(), aMachine()];
  await addSshKey(eve, await evesMachine.sshKey());
  await addSshKey(ben, await bensMachine.sshKey());
  privateKey = readFileSync(join(evesMachine.home, 'id'), 'utf8');
  const home = eve.workspaceId;
  const { entity } = await eve.client(api.clients.create, { name: 'Another' });
  [targets, wide] = [[], []];
  for (const workspaceId of [home, entity.clientId]) {
    eve.useWorkspace(workspaceId);
    targets.push(await aTarget({ 'large.bin': noise(24) }));
    const target = await aTarget({ a: 'a' });
    writeFileSync(join(target.project.dir, 'packed-refs'), manyRefs(target.sha, 40_000));
    wide.push(target);
  }
  const project = await aHostedProject(app, ben);
  await importCommits(project.dir, [{ message: 'Begin', files: { 'README.md': 'hello\n' } }]);
  victim = { https: project.https(await aToken(app, ben)), ssh: project.ssh };
});
afterAll(async () => {
  evesMachine?.remove();
  bensMachine?.remove();
  await app?.close();
});

async function aTarget(files: Record<string, string | Buffer>): Promise<Target> {
  const project = await aHostedProject(app, eve);
  const [sha = ''] = await importCommits(project.dir, [{ message: 'Begin', files }]);
  return { project, path: `${eve.workspaceId}/${project.slug}.git`, password: await aToken(app, eve), sha };
}

const transfers = (): number => childrenLike(/git .*(upload|receive)-pack/).length;
const port = (): number => portOf(app.url);

const authorizationOf = ({ password }: Target) => ({
  authorization: `Basic ${Buffer.from(`x:${password}`).toString('base64')}`,
});
const post = (target: Target, service: Service, headers: Record<string, string | number>): string =>
  headOf('POST', `/git/${target.path}/${service}`, {
    ...authorizationOf(target),
    'content-type': `application/x-${service}-request`,
    ...headers,
  });
const CHUNKED = { 'transfer-encoding': 'chunked' };
const get = (target: Target, service: Service): string =>
  headOf('GET', `/git/${target.path}/info/refs?service=${service}`, authorizationOf(target));
const together = (head: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(head), Buffer.from(body as string, 'latin1')]);

/** Transfers that are held, and their outcomes. */
interface Greed {
  refused(): number;
  close(): void;
}

type Open = (target: Target, wideTarget: Target) => Promise<Wire>;

const overHttp =
  (open: Open) =>
  async (count: number): Promise<Greed> => {
    const wires = await times(count, (n) => open(targets[n % 2]!, wide[n % 2]!));
    return {
      refused: () => wires.filter((wire) => (wire.status() ?? 0) >= 400).length,
      close: () => wires.forEach((wire) => void wire.close()),
    };
  };

const overSsh =
  (service: Service, sent: (target: Target) => string | Buffer, drips = '') =>
  async (count: number): Promise<Greed> => {
    const clients = await times(Math.ceil(count / 8), () => openSsh(app.ctx.config.gitSshPort, privateKey));
    const commands = await times(count, (n) =>
      beginCommand(clients[n % clients.length]!, service, targets[n % 2]!.path, sent(targets[n % 2]!)),
    );
    const timers = drips
      ? commands.map(({ channel }) => setInterval(() => channel.writable && channel.write(drips), EVERY_MS))
      : [];
    return {
      refused: () => commands.filter(({ refusal }) => refusal() !== null).length,
      close() {
        timers.forEach(clearInterval);
        for (const client of clients) client.destroy();
      },
    };
  };

const ATTACKS: [what: string, hold: (count: number) => Promise<Greed>][] = [
  ['send no byte of what they want', overHttp((target) => openWire(port(), post(target, UPLOAD, CHUNKED)))],
  ['send no byte of a push', overHttp((target) => openWire(port(), post(target, RECEIVE, CHUNKED)))],
  [
    'stop in the middle of a line',
    overHttp((target) => openWire(port(), together(post(target, UPLOAD, CHUNKED), chunkOf('0032wa')))),
  ],
  [
    'send half of what they announced',
    overHttp((target) => {
      const head = post(target, UPLOAD, { 'content-length': wantOf(target.sha).length });
      return openWire(port(), head + wantOf(target.sha).slice(0, 40));
    }),
  ],
  [
    'stop in the middle of an object',
    overHttp((target) =>
      openWire(port(), together(post(target, RECEIVE, CHUNKED), chunkOf(beginningOfPush(target.sha)))),
    ),
  ],
  [
    'send a byte now and then',
    overHttp((target) =>
      openWire(port(), `${post(target, RECEIVE, { 'content-length': 60_000 })}ea60`, { drips: 'x' }),
    ),
  ],
  [
    'send half of a gzip',
    overHttp((target) => {
      const body = gzipSync(wantOf(target.sha));
      const head = post(target, UPLOAD, { 'content-encoding': 'gzip', 'content-length': body.length });
      return openWire(port(), together(head, body.subarray(0, 14)));
    }),
  ],
  [
    'read nothing of a clone',
    overHttp((target) => {
      const head = post(target, UPLOAD, { 'content-length': wantOf(target.sha).length });
      return openWire(port(), head + wantOf(target.sha), { reading: 'beginning' });
    }),
  ],
  [
    'read a byte of a clone now and then',
    overHttp((target) => {
      const head = post(target, UPLOAD, { 'content-length': wantOf(target.sha).length });
      return openWire(port(), head + wantOf(target.sha), { reading: 'slowly' });
    }),
  ],
  [
    'read nothing of long lists of refs',
    overHttp((_, target) => openWire(port(), get(target, UPLOAD), { reading: 'beginning' })),
  ],
  [
    'read a byte of long lists of refs now and then',
    overHttp((_, target) => openWire(port(), get(target, RECEIVE), { reading: 'slowly' })),
  ],
  ['send nothing by SSH', overSsh(UPLOAD, () => '')],
  ['send nothing of a push by SSH', overSsh(RECEIVE, () => '')],
  ['stop in the middle of an object by SSH', overSsh(RECEIVE, ({ sha }) => beginningOfPush(sha))],
  ['send a byte now and then by SSH', overSsh(RECEIVE, () => 'ea60', 'x')],
  ['read nothing of a clone by SSH', overSsh(UPLOAD, ({ sha }) => wantOf(sha))],
  [
    'do it both ways',
    async (count) => {
      const [http, ssh] = await Promise.all([
        overHttp((target) => openWire(port(), post(target, UPLOAD, CHUNKED)))(count / 2),
        overSsh(RECEIVE, () => '')(count / 2),
      ]);
      return {
        refused: () => http.refused() + ssh.refused(),
        close() {
          http.close();
          ssh.close();
        },
      };
    },
  ],
];

const isListed = async (machine: Machine, url: string) => {
  const { code, stdout, stderr } = await machine.git(['ls-remote', url]);
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining('refs/heads/main')]);
};

describe('others go on while one person has git requests that', () => {
  it.each(ATTACKS)('%s', async (what, hold) => {
    const greed = await hold(AT_ONCE);
    onTestFinished(() => greed.close());
    const held = await comesToRest(transfers);
    console.log(`greed: ${held} transfers held, ${greed.refused()} refused: ${what}`);
    for (const url of [victim.https, victim.ssh]) await promptly('another’s git', () => isListed(bensMachine, url));
    expect(held).toBeLessThanOrEqual(SHARE);
    expect(greed.refused()).toBeGreaterThanOrEqual(AT_ONCE - SHARE);
    greed.close();
    await expect.poll(transfers).toBe(0);
  });
});

describe('who holds as much as may be', () => {
  it('reads why there is no more', async () => {
    const [target] = targets as [Target];
    const greed = await overHttp((of) => openWire(port(), post(of, UPLOAD, CHUNKED)))(AT_ONCE);
    onTestFinished(() => greed.close());
    await comesToRest(transfers);
    for (const url of [target.project.https(target.password), target.project.ssh]) {
      const { code, stderr } = await evesMachine.git(['ls-remote', url]);
      expect([code, stderr]).toEqual([128, expect.stringMatching(/(too many|busy|again)/i)]);
    }
    greed.close();
    await expect.poll(transfers).toBe(0);
  });
});

describe('alone on the platform one still gets eight transfers at once', () => {
  const begin: Record<string, () => Promise<Greed>> = {
    HTTP: () => overHttp((target) => openWire(port(), post(target, UPLOAD, CHUNKED)))(7),
    SSH: () => overSsh(UPLOAD, () => '')(7),
  };
  it.each(Object.keys(begin))('over %s', async (way) => {
    const greed = await begin[way]!();
    onTestFinished(() => greed.close());
    await expect.poll(transfers).toBe(7);
    const [target] = targets as [Target];
    for (const url of [target.project.https(target.password), target.project.ssh]) await isListed(evesMachine, url);
    expect([transfers(), greed.refused()]).toEqual([7, 0]);
    greed.close();
    await expect.poll(transfers).toBe(0);
  });

  it('and clones to their end', async () => {
    const [target] = targets as [Target];
    const clones = await times(8, (n) =>
      evesMachine.git([
        'clone',
        '-q',
        '--bare',
        n % 2 ? target.project.ssh : target.project.https(target.password),
        `c${n}`,
      ]),
    );
    expect(clones.map(({ code, stderr }) => [code, stderr])).toEqual(clones.map(() => [0, '']));
  });
});
