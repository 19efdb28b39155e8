import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { importCommits } from '../git/testing/fastImport.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { comesToRest, openWire, promptly, times } from '../testing/greed.ts';
import { newPrivateKey } from './hostKey.ts';
import { addSshKey, aHostedProject, aMachine, type HostedProject, type Machine } from './testing/gitClient.ts';
import { listRefs, openSsh } from './testing/halfTransfers.ts';
import { again, type Connection, HALF_KEY_EXCHANGE, IDENT, offerKeys, sendOverSsh } from './testing/silentSsh.ts';
import { endSsh } from './testing/sshClient.ts';

/** An eighth of the connections, for all of one address that have not logged in, and what a person may have. */
const OF_ADDRESS = 50;
const OF_PERSON = 64;

let app: TestApp;
let port: number;
let bensMachine: Machine;
let keys: { eve: string; ben: string; nobody: string };
let project: HostedProject;
let path: string;

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  port = app.ctx.config.gitSshPort;
  const [eve, ben] = [await app.signUp('Eve'), await app.signUp('Ben')];
  bensMachine = aMachine();
  const evesMachine = aMachine();
  await addSshKey(ben, await bensMachine.sshKey());
  await addSshKey(eve, await evesMachine.sshKey());
  const keyOf = ({ home }: Machine): string => readFileSync(join(home, 'id'), 'utf8');
  keys = { eve: keyOf(evesMachine), ben: keyOf(bensMachine), nobody: newPrivateKey() };
  evesMachine.remove();
  project = await aHostedProject(app, ben);
  await importCommits(project.dir, [{ message: 'Begin', files: { 'README.md': 'hello\n' } }]);
  path = `${ben.workspaceId}/${project.slug}.git`;
});
// Those of the test before are gone.
beforeEach(async () => {
  await expect.poll(async () => (await bensMachine.git(['ls-remote', project.ssh])).code).toBe(0);
});
afterAll(async () => {
  bensMachine?.remove();
  await app?.close();
});

/** By the real program, from the same address. */
async function anotherIsServed(): Promise<void> {
  const { code, stdout, stderr } = await promptly('another’s git', () => bensMachine.git(['ls-remote', project.ssh]));
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining('refs/heads/main')]);
}

describe('alone on the platform', () => {
  it('one gets eight connections at once, with a command on each', async () => {
    const all = await times(8, () => bensMachine.git(['ls-remote', project.ssh]));
    expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(all.map(() => [0, '']));
  });

  it('one address may be silent eight times', async () => {
    const all = await times(8, () => sendOverSsh(port, ''));
    onTestFinished(() => all.forEach((one) => void one.close()));
    expect(await comesToRest(() => all.filter((one) => one.isOpen()).length)).toBe(8);
  });
});

const ATTACKS: [what: string, count: number, most: number, open: () => Promise<Connection>][] = [
  ['say nothing', 200, OF_ADDRESS, () => sendOverSsh(port, '')],
  ['say who they are and nothing more', 200, OF_ADDRESS, () => sendOverSsh(port, IDENT)],
  ['say who they are byte by byte', 200, OF_ADDRESS, () => sendOverSsh(port, '', { drips: 'SSH-2.0-client-of-mine' })],
  ['say something else line by line', 200, OF_ADDRESS, () => sendOverSsh(port, 'hello\r\n', { drips: '\r\n' })],
  ['stop in the middle of the key exchange', 200, OF_ADDRESS, () => sendOverSsh(port, HALF_KEY_EXCHANGE)],
  [
    'send the rest of the key exchange byte by byte',
    200,
    OF_ADDRESS,
    () => sendOverSsh(port, HALF_KEY_EXCHANGE, { drips: 'x' }),
  ],
  ['exchange keys and do not log in', 80, OF_ADDRESS, () => offerKeys(port, [])],
  ['fail to log in and stay', 80, OF_ADDRESS, () => offerKeys(port, [keys.nobody, keys.nobody])],
  ['log in and ask nothing, all of one person', 100, OF_PERSON, () => offerKeys(port, [keys.eve])],
];

describe('git over SSH goes on at the same address while connections', () => {
  it.each(ATTACKS)('%s', async (what, count, most, open) => {
    const all = await times(count, open);
    onTestFinished(() => all.forEach((one) => void one.close()));
    const held = await comesToRest(() => all.filter((one) => one.isOpen()).length);
    console.log(`greed: ${held} connections held: ${what}`);
    await anotherIsServed();
    await anotherIsServed();
    expect(held).toBeLessThanOrEqual(most);
  });

  it('use up all tries of logging in', async () => {
    const all = await times(20, () =>
      offerKeys(
        port,
        Array.from({ length: 19 }, () => keys.nobody),
      ),
    );
    onTestFinished(() => all.forEach((one) => void one.close()));
    await anotherIsServed();
  });

  it('come back whenever they are cut', async () => {
    const all = Array.from({ length: 100 }, () => again(() => openWire(port, IDENT)));
    onTestFinished(() => all.forEach((one) => void one.leave()));
    const opened = (): number => all.reduce((sum, one) => sum + one.opened(), 0);
    await expect.poll(opened).toBeGreaterThan(200);
    await anotherIsServed();
    await anotherIsServed();
    console.log(`greed: ${opened()} connections opened meanwhile`);
  });
});

describe('git over SSH goes on while silent connections', () => {
  it('come from four addresses', async () => {
    const all = await times(240, (n) => sendOverSsh(port, '', { from: `127.0.0.${2 + (n % 4)}` }));
    onTestFinished(() => all.forEach((one) => void one.close()));
    const held = await comesToRest(() => all.filter((one) => one.isOpen()).length);
    await anotherIsServed();
    expect(held).toBeLessThanOrEqual(4 * OF_ADDRESS);
  });

  it('come from an address where somebody is logged in already: who is logged in stays', async () => {
    const client = await openSsh(port, keys.ben);
    const all = await times(200, () => sendOverSsh(port, IDENT));
    onTestFinished(() => all.forEach((one) => void one.close()));
    await comesToRest(() => all.filter((one) => one.isOpen()).length);
    expect(await promptly('what is asked on it', () => listRefs(client, path))).toContain('refs/heads/main');
    await endSsh(client);
  });
});

describe('who has logged in does not count as of an address', () => {
  it('and one gets eight connections beside those of another', async () => {
    const eves: Connection[] = [];
    onTestFinished(() => eves.forEach((one) => void one.close()));
    // Some after the others: who has not logged in yet counts as of the address.
    for (let n = 0; n < 3; n += 1) eves.push(...(await times(20, () => offerKeys(port, [keys.eve]))));
    expect(eves.every((one) => one.isOpen())).toBe(true);
    const clients = await times(8, () => openSsh(port, keys.ben));
    const answers = await Promise.all(clients.map((client) => listRefs(client, path)));
    expect(answers).toEqual(answers.map(() => expect.stringContaining('refs/heads/main')));
    await Promise.all(clients.map(endSsh));
  });
});
