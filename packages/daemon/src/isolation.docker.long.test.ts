import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { CONTAINER_NETWORK } from '@stagi/contract/hostConfig.ts';
import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConnectedDaemon } from './testing/connectedDaemon.ts';
import { container, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from './testing/image.ts';
import type { FakePlatform } from './testing/platform.ts';

const FIRST_NODE = 9_700_000 + (process.pid % 10_000) * 10;
const SSH_BANNER = 'SSH-2.0-of-the-server';
const MANY = 100;

/** Serves a word on port 80, which is mapped, and on 8080 and 22, which are not. */
const SERVE =
  'trap "exit 0" TERM; for port in 80 8080 22; do busybox nc -ll -p $port -e echo served & done; echo up; ' +
  'while :; do sleep 0.2; done';
/** Prints `{name} open` when something answers, else `{name} closed`; all at a time, then `done`. */
const attack = (targets: readonly (readonly [name: string, host: string, port: number])[]): string =>
  [
    'try() { if busybox nc -w 5 $2 $3 </dev/null 2>/dev/null | busybox grep -q -E "served|SSH-"; then echo $1 open; else echo $1 closed; fi; }',
    ...targets.map((words) => `try ${words.join(' ')} &`),
    'wait; echo done',
  ].join('\n');

interface Workspace {
  platform: FakePlatform;
  daemon: TestDaemon;
}

/** Two workspaces that have a daemon each on the same server. */
describe('containers of one server', () => {
  let first: Workspace;
  let second: Workspace;
  let sshd: Server | null = null;
  const ids = { victim: 1, attacker: 2, open: 3, neighbour: 900_001 };
  const ports = { private: 0, public: 0 };

  beforeAll(async () => {
    await ensureTestImage();
    first = await startConnectedDaemon(String(FIRST_NODE));
    second = await startConnectedDaemon(String(FIRST_NODE + 1));
    ports.private = await freeHostPort();
    ports.public = await freeHostPort();
    sshd = await standInForSshd();
  });
  afterAll(async () => {
    for (const { daemon, platform } of [first, second]) {
      await daemon?.cleanUp();
      await platform?.close();
    }
    sshd?.close();
  });

  const inspect = (id: number) => docker.getContainer(`stagi-${slugOf(id)}`).inspect();
  const networkOf = async (id: number) => Object.values((await inspect(id)).NetworkSettings.Networks)[0]!;
  const shown = ({ platform }: Workspace, id: number) => platform.inventory()?.containers.find((one) => one.id === id);
  const lines = ({ platform }: Workspace, id: number) => platform.logs.of(id).lines.map(({ text }) => text.trimEnd());
  const serves = async (at: Workspace, id: number) => {
    await at.platform.until(`container ${id} serves`, () => lines(at, id).includes('up'), 120_000);
  };
  /** An attacker prints a line about each target: its name and the outcome. */
  async function results(at: Workspace, id: number): Promise<Map<string, string>> {
    await at.platform.until('the attack is over', () => lines(at, id).includes('done'), 120_000);
    return new Map(lines(at, id).flatMap((line) => (line.includes(' ') ? [line.split(' ') as [string, string]] : [])));
  }
  const victims = (): DesiredContainer[] => [
    container(ids.victim, SERVE, { spec: { ports: [{ host: ports.private, container: 80, public: false }] } }),
    container(ids.open, SERVE, { spec: { ports: [{ host: ports.public, container: 80, public: true }] } }),
  ];

  it('cannot reach each other, nor the SSH service of the server; public ports stay reachable', async () => {
    await first.platform.setDesired(victims());
    await second.platform.setDesired([container(ids.neighbour, SERVE)]);
    for (const id of [ids.victim, ids.open]) await serves(first, id);
    await serves(second, ids.neighbour);
    const victim = await networkOf(ids.victim);
    const neighbour = await networkOf(ids.neighbour);
    const bridge = await docker.getNetwork('bridge').inspect();
    const otherAddress = bridge.IPAM?.Config?.[0]?.Gateway;
    if (!otherAddress) throw new Error('Docker has no network of its own');
    const targets = [
      ['private-port-by-address', victim.IPAddress, 80],
      ['unlisted-port-by-address', victim.IPAddress, 8080],
      ['sshd-of-a-container', victim.IPAddress, 22],
      ['private-port-by-name', `stagi-${slugOf(ids.victim)}`, 80],
      ['private-host-port-by-gateway', victim.Gateway, ports.private],
      ['private-host-port-by-another-address', otherAddress, ports.private],
      ['container-of-another-workspace', neighbour.IPAddress, 80],
      ['sshd-of-the-server-by-gateway', victim.Gateway, 22],
      ['sshd-of-the-server-by-another-address', otherAddress, 22],
    ] as const;
    const open = [
      ['public-port-by-gateway', victim.Gateway, ports.public],
      ['public-port-by-another-address', otherAddress, ports.public],
    ] as const;
    const script = `cat /proc/net/if_inet6 | busybox grep -v " lo$" && echo ipv6 open || echo ipv6 closed\n`;
    await first.platform.setDesired([
      ...victims(),
      container(ids.attacker, script + attack([...targets, ...open]), { spec: { nanoCpus: 1e9 } }),
    ]);
    const found = await results(first, ids.attacker);
    const expected = new Map<string, string>([
      ['ipv6', 'closed'],
      ...targets.map(([name]) => [name, 'closed'] as const),
      ...open.map(([name]) => [name, 'open'] as const),
    ]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    expect(shown(first, ids.victim)?.protections).toContain('network');
    // As the platform reaches it: from the server itself.
    const answer = await fetchBytes(ports.private);
    expect(answer).toContain('served');
    console.log(`attacks between containers: n = ${targets.length + 1}, succeeded 0; public ports: n = ${open.length}`);
  });

  it('were open to each other on the network of before, and move when they are recreated', async () => {
    const { platform, daemon } = first;
    const id = 11;
    const from = 12;
    // As earlier daemons created them.
    const made = await docker.createContainer({
      name: `stagi-${slugOf(id)}`,
      Image: TEST_IMAGE,
      Cmd: ['sh', '-c', SERVE],
      Labels: { ...daemon.labels, 'stagi.id': String(id), 'stagi.gen': '1', 'stagi.spec': '1', 'stagi.secret': '' },
      HostConfig: { NetworkMode: 'bridge' },
    });
    await made.start();
    await platform.setDesired([container(id, SERVE)]);
    await platform.until('it is adopted', () => shown(first, id)?.state === 'running');
    expect(shown(first, id)?.protections).not.toContain('network');
    await serves(first, id);
    const { IPAddress } = await networkOf(id);
    const targets = [
      ['private-port', IPAddress, 80],
      ['unlisted-port', IPAddress, 8080],
      ['sshd', IPAddress, 22],
      ['sshd-of-the-server', (await networkOf(id)).Gateway, 22],
    ] as const;
    const attacker = await docker.createContainer({
      Image: TEST_IMAGE,
      Cmd: ['sh', '-c', attack(targets)],
      Labels: { ...daemon.labels },
      HostConfig: { NetworkMode: 'bridge' },
    });
    await attacker.start();
    await attacker.wait();
    const said = (await attacker.logs({ stdout: true, stderr: true })).toString();
    for (const [name] of targets) expect(said).toContain(`${name} open`);
    await attacker.remove();

    await platform.setDesired([
      container(id, SERVE, { gen: 2, specNo: 2 }),
      container(from, attack(targets.slice(0, 3)), { spec: { nanoCpus: 1e9 } }),
    ]);
    await platform.until('it is recreated', () => {
      const found = shown(first, id);
      return found?.specNo === 2 && found.state === 'running';
    });
    expect(shown(first, id)?.protections).toContain('network');
    // One that has moved does not reach those that have not, either.
    expect(new Set((await results(first, from)).values())).toEqual(new Set(['closed']));
  });

  it(`cannot reach each other when they are ${MANY}, in one network`, async () => {
    const { platform } = first;
    const before = await docker.listNetworks();
    const many = Array.from({ length: MANY }, (_, index) =>
      container(100 + index, 'busybox nc -ll -p 80 -e echo served & echo up; wait', { spec: { nanoCpus: 1e8 } }),
    );
    await platform.setDesired([...victims(), ...many]);
    const running = () => platform.inventory()?.containers.filter(({ id, state }) => id >= 100 && state === 'running');
    await platform.until('all run', () => running()?.length === MANY, 420_000);
    const addresses = await Promise.all(many.map(async ({ id }) => (await networkOf(id)).IPAddress));
    expect(new Set(addresses).size).toBe(MANY);
    expect(await docker.listNetworks()).toHaveLength(before.length);
    const attacker = 99;
    const targets = addresses.map((address, index) => [`container-${index}`, address, 80] as const);
    const gateway = (await networkOf(100)).Gateway;
    await platform.setDesired([
      ...victims(),
      ...many,
      container(attacker, attack([...targets, ['public', gateway, ports.public]]), { spec: { nanoCpus: 1e9 } }),
    ]);
    const found = await results(first, attacker);
    const reached = targets.filter(([name]) => found.get(name) !== 'closed');
    console.log(`containers on one server: n = ${MANY}, reached by another ${reached.length}`);
    expect(reached).toEqual([]);
    expect(found.get('public')).toBe('open');
  });
});

it('start in no network of that name that is none of ours, and start when it is gone', async () => {
  const network = () => docker.getNetwork(CONTAINER_NETWORK);
  await network().remove();
  await docker.createNetwork({ Name: CONTAINER_NETWORK, Driver: 'bridge' });
  const { platform, daemon } = await startConnectedDaemon(String(FIRST_NODE + 2));
  try {
    await platform.setDesired([container(1, SERVE)]);
    const failed = await platform.until('it fails', () => platform.received.find((one) => one.type === 'failed'));
    expect(failed).toMatchObject({ phase: 'create', permanent: false });
    expect(failed).toHaveProperty('message', expect.stringContaining('none of ours'));
    await network().remove();
    await platform.until('it runs', () => platform.inventory()?.containers.find(({ state }) => state === 'running'));
  } finally {
    await daemon.cleanUp();
    await platform.close();
  }
});

/** Answers null where this machine has an SSH service already. */
async function standInForSshd(): Promise<Server | null> {
  const server = createServer((socket) => socket.on('error', () => {}).end(`${SSH_BANNER}\r\n`));
  server.listen(22, '0.0.0.0');
  return Promise.race([
    once(server, 'listening').then(() => server),
    once(server, 'error').then(([error]) => {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
      throw error;
    }),
  ]);
}

async function fetchBytes(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
