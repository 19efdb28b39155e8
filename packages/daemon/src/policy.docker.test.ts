import { createServer, connect as dial } from 'node:net';
import { join } from 'node:path';
import { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { HOSTILE, PRIVILEGES } from '@stagi/contract/testing/hostileSpecs.ts';
import type Docker from 'dockerode';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectDocker } from './docker.ts';
import { pathsFrom } from './paths.ts';
import { authorizeContainer, loadPolicy } from './policy.ts';
import { putEntries } from './taskTar.ts';
import { startConnectedDaemon } from './testing/connectedDaemon.ts';
import { container, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from './testing/image.ts';
import type { FakePlatform } from './testing/platform.ts';

let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_200_000 + (process.pid % 10_000) * 10;

beforeAll(() => ensureTestImage());
beforeEach(async () => {
  ({ platform, daemon } = await startConnectedDaemon(String(++nodes)));
});
afterEach(async () => {
  await daemon.cleanUp();
  await platform.close();
});

const STOP = { graceSeconds: 1, signal: new AbortController().signal };
const inspect = (id: number) => docker.getContainer(`stagi-${slugOf(id)}`).inspect();
const ofNode = () =>
  docker.listContainers({
    all: true,
    filters: { label: Object.entries(daemon.labels).map(([name, value]) => `${name}=${value}`) },
  });

describe('a compromised platform', () => {
  it('cannot have hostile specs carried out by signing them', async () => {
    const all = HOSTILE.map(({ slug, spec }, index) => {
      const made = container(index + 1, 'true', { spec: { image: TEST_IMAGE, ...spec } });
      return slug === undefined ? made : { ...made, slug };
    });
    const readable = all.filter((one) => DesiredContainer.safeParse(one).success);
    const others = all.filter((one) => !readable.includes(one));
    const taken = await platform.setDesired(readable);
    const refused = () =>
      new Set(platform.received.flatMap((one) => (one.type === 'failed' && one.permanent ? [one.containerId] : [])));
    await platform.until('all are refused', () => refused().size === readable.length, 60_000);
    await platform.until('it is told', () => platform.inventory()?.appliedGen === taken);
    for (const one of others) await platform.setDesired([one]);
    // The answer to a later command proves that the documents were read.
    await platform.command({ kind: 'restart', containerId: 1 }, 'after');
    await platform.until('an answer', () => platform.received.find((one) => one.type === 'result'));
    expect(platform.inventory()?.appliedGen).toBe(taken);
    const made = await ofNode();
    console.log(`signed hostile specs: n = ${all.length} (${others.length} no document at all), made ${made.length}`);
    expect(all.length).toBeGreaterThanOrEqual(60);
    expect(made).toEqual([]);
  });

  it('cannot grant further rights by signing them', async () => {
    const rights = PRIVILEGES.map((privilege, index) => {
      const made = container(index + 1, 'true');
      return { ...made, ...privilege, spec: { ...made.spec, ...privilege } };
    });
    const plain = container(900, 'true');
    await platform.setDesired([...rights, plain]);
    const ended = () => platform.inventory()?.containers.filter(({ state }) => state === 'exited').length;
    await platform.until('all have run', () => ended() === rights.length + 1, 300_000);
    const expected = (await inspect(900)).HostConfig;
    for (const [index] of rights.entries()) expect((await inspect(index + 1)).HostConfig).toEqual(expected);
    console.log(`signed rights: n = ${rights.length}, of any effect 0`);
  });
});

describe('a created container', () => {
  /** Each would be an option, a path or a command if anything on the way were a shell or a command line. */
  const WORDS = [
    '--privileged',
    '-v=/:/host',
    '--pid=host --net=host',
    '$(reboot)',
    '`id`',
    '; rm -rf /',
    '&& true',
    '| sh',
    "'; true; '",
    '"},"HostConfig":{"Privileged":true},"x":{"',
    '{"Privileged":true}',
    'a\nb',
    'a\r\nHost: evil',
    '%2e%2e%2f',
    '../../etc',
    '\u202egnp.sh',
    '\u001b[31m',
    '=',
    '',
    ' ',
  ];

  it('matches its spec exactly, whatever texts are in it', async () => {
    const ports: number[] = [];
    while (ports.length < WORDS.length) ports.push(await freeHostPort());
    const targets = WORDS.map((word, index) =>
      container(index + 1, 'true', {
        spec: {
          command: ['true', word, `--x=${word}`],
          env: [{ name: 'A', value: word }],
          ports: [{ host: ports[index]!, container: 80 }],
          memoryBytes: 64 * 2 ** 20,
        },
      }),
    );
    await platform.setDesired(targets);
    const ended = () => platform.inventory()?.containers.filter(({ state }) => state === 'exited').length;
    await platform.until('all have run', () => ended() === targets.length, 300_000);
    for (const [index, word] of WORDS.entries()) {
      const { Config, HostConfig, Mounts, Name } = await inspect(index + 1);
      const { Cmd, Entrypoint, Env, Hostname, Image, Labels, Tty, OpenStdin } = Config;
      const shown = {
        Cmd,
        Entrypoint,
        Env: Env.filter((one) => one.startsWith('A=')),
        Hostname,
        Image,
        Labels,
        Tty,
        OpenStdin,
        Mounts,
        Name,
      };
      const wanted = {
        Cmd: ['true', word, `--x=${word}`],
        Entrypoint: null,
        Env: [`A=${word}`],
        Hostname: slugOf(index + 1),
        Image: TEST_IMAGE,
        Labels: {
          ...daemon.labels,
          'stagi.id': String(index + 1),
          'stagi.gen': '1',
          'stagi.spec': '1',
          'stagi.secret': '[]',
          'stagi.volumes': 'bound',
        },
        Tty: false,
        OpenStdin: false,
        Mounts: [],
        Name: `/stagi-${slugOf(index + 1)}`,
      };
      expect(shown).toEqual(wanted);
      expect(rightsOf(HostConfig)).toEqual(RIGHTS);
      expect(HostConfig).toMatchObject({
        NanoCpus: 5e8,
        Memory: 64 * 2 ** 20,
        MemorySwap: 64 * 2 ** 20,
        PortBindings: { '80/tcp': [{ HostIp: '0.0.0.0', HostPort: String(ports[index]) }] },
      });
    }
    console.log(`injections: n = ${WORDS.length}, deviations 0`);
  });
});

describe('the daemon', () => {
  it('calls only the parts of the Docker API that it needs: no plugin, service, build or exec (CVE-2026-44848)', async () => {
    const path = join(daemon.folder, 'docker.sock');
    const asked = new Set<string>();
    const recorder = createServer((near) => {
      const far = dial('/var/run/docker.sock');
      near.on('data', (chunk) => {
        for (const [, method, url] of chunk.toString('latin1').matchAll(/^([A-Z]+) (\/\S*) HTTP\/1\.1\r$/gm))
          asked.add(
            `${method} ${url!.split('?')[0]!.replaceAll(/[0-9a-f]{64}|stagi-[\w:-]+|(?<=networks\/)stagi$/g, '{id}')}`,
          );
        far.write(chunk);
      });
      far.on('data', (chunk) => near.write(chunk));
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const)
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
    });
    await new Promise<void>((resolve) => recorder.listen(path, resolve));
    const engine = connectDocker({ platform: daemon.labels['stagi.platform']!, node: platform.node }, path);
    const target = container(1, 'trap "exit 0" TERM; while :; do sleep 0.1; done');
    const paths = pathsFrom(daemon.env);
    const rights = await authorizeContainer(target, await loadPolicy(paths, 'self-hosted'), paths);
    const made = await engine.create(target, rights);
    if (made === 'image missing') throw new Error('the test image is gone');
    await engine.create(target, rights);
    const { signal } = new AbortController();
    await engine.pathAt(made.dockerId, '/tmp');
    await putEntries(engine, made.dockerId, '/tmp', (tar) => tar.directory('made', 0o777), signal);
    await engine.start(made.dockerId, target.spec.image);
    await engine.pause(made.dockerId);
    await engine.unpause(made.dockerId);
    await engine.restart(made.dockerId, target.spec.image, STOP);
    (await engine.logs(made.dockerId, { follow: false, sinceNs: 0n })).destroy();
    await engine.stop(made.dockerId, STOP);
    await engine.readArchive(made.dockerId, '/tmp/made', async (tar) => void tar.resume(), signal);
    await engine.list();
    await engine.images();
    await engine.info();
    await engine.remove(made.dockerId);
    const done = new AbortController();
    const watching = engine.watch(() => {}, done.signal).catch(() => {});
    await expect.poll(() => asked.has('GET /events')).toBe(true);
    done.abort();
    await watching;
    recorder.close();
    expect([...asked].sort()).toEqual([
      'DELETE /containers/{id}',
      'GET /containers/json',
      'GET /containers/{id}/archive',
      'GET /containers/{id}/json',
      'GET /containers/{id}/logs',
      'GET /events',
      'GET /images/json',
      'GET /images/{id}/json',
      'GET /info',
      'GET /networks/{id}',
      'GET /version',
      'HEAD /containers/{id}/archive',
      'POST /containers/create',
      'POST /containers/{id}/pause',
      'POST /containers/{id}/restart',
      'POST /containers/{id}/start',
      'POST /containers/{id}/stop',
      'POST /containers/{id}/unpause',
      'PUT /containers/{id}/archive',
    ]);
  });
});

/** All rights of a container as Docker shows them. */
function rightsOf(host: Docker.HostConfig) {
  const shown = (value: unknown) => {
    if (!Array.isArray(value)) return value ?? null;
    // Releases of Docker differ in the order, in a prefix, and in how they show an empty value.
    return value.length === 0 ? null : value.map((one) => String(one).replace(/^CAP_/, '')).sort();
  };
  return Object.fromEntries(Object.keys(RIGHTS).map((name) => [name, shown(host[name as keyof Docker.HostConfig])]));
}

const RIGHTS = {
  Privileged: false,
  CapDrop: ['ALL'],
  CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'],
  SecurityOpt: ['no-new-privileges:true'],
  NetworkMode: 'stagi',
  IpcMode: 'private',
  PidMode: '',
  UTSMode: '',
  UsernsMode: '',
  CgroupParent: '',
  PidsLimit: 8192,
  ReadonlyRootfs: false,
  Binds: null,
  VolumesFrom: null,
  ExtraHosts: null,
  Devices: null,
  DeviceCgroupRules: null,
  Sysctls: null,
  LogConfig: { Type: 'json-file', Config: { 'max-file': '3', 'max-size': '50m' } },
};
