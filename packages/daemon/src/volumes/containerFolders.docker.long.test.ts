import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectDocker } from '../docker.ts';
import { pathsFrom } from '../paths.ts';
import { authorizeContainer, loadPolicy } from '../policy.ts';
import { container, createDaemon, slugOf, type TestDaemon } from '../testing/daemon.ts';
import { docker, ensureTestImage } from '../testing/image.ts';
import { type FakePlatform, startFakePlatform } from '../testing/platform.ts';
import { namesIn, releaseFolders } from './bindFolders.ts';
import { type ContainerFolders, containerFolders } from './containerFolders.ts';

const run = promisify(execFile);
const RACES = 60;
const LOOK = 'ls /mnt; echo here > /mnt/written; echo done';
const FOREVER = 'ls /mnt; echo done; trap "exit 0" TERM; while :; do sleep 0.2; done';

let top: string;
let serial = 0;
beforeAll(() => ensureTestImage());
beforeEach(async () => {
  top = await mkdtemp('/srv/stagi-volumes-');
  await mkdir(join(top, 'etc'));
  await mkdir(at('allowed/a/x'), { recursive: true });
  await writeFile(at('allowed/a/x/inside'), '');
  // Must not be seen: it is not below the allowed folder.
  await mkdir(at('outside/x'), { recursive: true });
  await writeFile(at('outside/secret'), '');
  await writeFile(at('outside/x/secret'), '');
  await writeFile(at('etc/policy.json'), JSON.stringify({ volumeRoots: [at('allowed')] }));
});
afterEach(() => rm(top, { recursive: true }));

const at = (path: string) => join(top, path);
const asksFor = (id: number, script: string, more: Partial<DesiredContainer['spec']> = {}) =>
  container(id, script, { spec: { directories: [{ host: at('allowed/a/x'), container: '/mnt' }], ...more } });
const writtenOutside = async () =>
  (await readdir(top, { recursive: true })).filter((name) => name.startsWith('outside/') && name.endsWith('written'));

describe('a directory that is swapped after it was checked', () => {
  const owner = { platform: 'test-volumes', node: String(process.pid) };
  const engine = connectDocker(owner);
  let folders: ContainerFolders;
  let created: string[] = [];

  beforeEach(() => {
    folders = containerFolders(at('run/volumes'), owner);
  });
  afterEach(async () => {
    for (const id of created) await docker.getContainer(id).remove({ force: true });
    created = [];
    await endBindings(at('run/volumes'));
  });

  const authorize = (target: DesiredContainer) => {
    const paths = pathsFrom({ STAGI_CONFIG_DIR: at('etc'), STAGI_STATE_DIR: at('state'), STAGI_RUN_DIR: at('run') });
    return loadPolicy(paths, 'self-hosted').then((policy) => authorizeContainer(target, policy, paths));
  };
  const bound = async (target: DesiredContainer) => folders.bind(target, await authorize(target));
  async function create(target: DesiredContainer, rights: HostConfig): Promise<string> {
    const made = await engine.create(target, rights);
    if (made === 'image missing') throw new Error('the test image is gone');
    created.push(made.dockerId);
    return made.dockerId;
  }
  async function printed(dockerId: string): Promise<string> {
    await docker.getContainer(dockerId).wait();
    return (await docker.getContainer(dockerId).logs({ stdout: true, stderr: true })).toString();
  }

  const SWAPS: Record<string, () => Promise<unknown>> = {
    'a link in its place': async () => {
      await rename(at('allowed/a/x'), at('allowed/a/y'));
      await symlink(at('outside'), at('allowed/a/x'));
    },
    'another parent with a link in it': async () => {
      await rename(at('allowed/a'), at('allowed/b'));
      await mkdir(at('allowed/a'));
      await symlink(at('outside'), at('allowed/a/x'));
    },
    'a link in place of its parent': async () => {
      await rename(at('allowed/a'), at('allowed/b'));
      await symlink(at('outside'), at('allowed/a'));
    },
    'a link to a link': async () => {
      await rename(at('allowed/a/x'), at('allowed/a/y'));
      await symlink('../../outside', at('allowed/a/z'));
      await symlink('z', at('allowed/a/x'));
    },
    'something mounted over it': () => run('mount', ['--bind', at('outside'), at('allowed/a/x')]),
    'something mounted over its parent': () => run('mount', ['--bind', at('outside'), at('allowed/a')]),
  };

  async function printedAfter(swap: string, rightsOf: typeof bound): Promise<string> {
    const target = asksFor(++serial, LOOK);
    const rights = await rightsOf(target);
    await SWAPS[swap]!();
    try {
      const dockerId = await create(target, rights);
      await engine.start(dockerId, target.spec.image);
      return await printed(dockerId);
    } finally {
      if (swap.includes('mounted')) await run('umount', [at(swap.includes('parent') ? 'allowed/a' : 'allowed/a/x')]);
    }
  }

  it.each(Object.keys(SWAPS))('is mounted as it was checked: %s', async (swap) => {
    const said = await printedAfter(swap, bound);
    expect(said).not.toContain('secret');
    expect(said).toContain('inside');
    expect(await writtenOutside()).toEqual([]);
  });

  it.each(Object.keys(SWAPS))(
    'was mounted as its path led by then, when the path was named to Docker: %s',
    async (swap) => {
      expect(await printedAfter(swap, authorize)).toContain('secret');
      expect(await writtenOutside()).toHaveLength(1);
    },
  );

  it('stays what it was when Docker starts the container again by itself', async () => {
    const target = asksFor(++serial, FOREVER);
    const dockerId = await create(target, await bound(target));
    await engine.start(dockerId, target.spec.image);
    await SWAPS['a link in its place']!();
    const one = docker.getContainer(dockerId);
    await one.restart({ t: 0 });
    await one.stop({ t: 0 });
    const said = await printed(dockerId);
    expect(said.match(/inside/g)).toHaveLength(2);
    expect(said).not.toContain('secret');
  });

  it('is refused at the next start by the agent, and what is let go of stays as it is', async () => {
    const target = asksFor(++serial, LOOK);
    const rights = await authorize(target);
    await folders.bind(target, rights);
    expect(await folders.areBound(target.id)).toBe(true);
    await SWAPS['a link in its place']!();
    await expect(folders.bind(target, rights)).rejects.toThrow('symbolic link');
    expect(await folders.areBound(target.id)).toBe(false);
    expect(await readdir(at('allowed/a/y'))).toEqual(['inside']);
  });

  it('cannot be mounted any more when it was removed, until it is bound anew', async () => {
    const target = asksFor(++serial, LOOK);
    const rights = await bound(target);
    await rm(at('allowed/a/x'), { recursive: true });
    await symlink(at('outside'), at('allowed/a/x'));
    expect(await folders.areBound(target.id)).toBe(false);
    const dockerId = await create(target, rights);
    await expect(engine.start(dockerId, target.spec.image)).rejects.toThrow();
    await rm(at('allowed/a/x'));
    await mkdir(at('allowed/a/x'));
    await bound(target);
    await engine.start(dockerId, target.spec.image);
    expect(await printed(dockerId)).not.toContain('secret');
    expect(await readdir(at('allowed/a/x'))).toEqual(['written']);
    expect(await writtenOutside()).toEqual([]);
  });

  it('brings along what is mounted in it, and letting go of it unmounts nothing there', async () => {
    await mkdir(at('disk'));
    await writeFile(at('disk/on-disk'), '');
    await mkdir(at('allowed/a/x/disk'));
    await run('mount', ['--bind', at('disk'), at('allowed/a/x/disk')]);
    try {
      const target = asksFor(++serial, 'ls /mnt/disk; echo done');
      const dockerId = await create(target, await bound(target));
      await engine.start(dockerId, target.spec.image);
      expect(await printed(dockerId)).toContain('on-disk');
      await folders.release(target.id);
      expect(await folders.areBound(target.id)).toBe(false);
      expect(await readdir(at('allowed/a/x/disk'))).toEqual(['on-disk']);
    } finally {
      await run('umount', [at('allowed/a/x/disk')]);
    }
  });
});

describe('the agent', () => {
  let platform: FakePlatform;
  let daemon: TestDaemon;

  async function start(wrapper: string[] = []): Promise<void> {
    platform = await startFakePlatform({ node: String(9_800_000 + (process.pid % 10_000) * 10 + ++serial) });
    daemon = await createDaemon(platform, { wrapper });
    await writeFile(pathsFrom(daemon.env).policy, JSON.stringify({ volumeRoots: [at('allowed')] }));
    daemon.start();
    await platform.until('a hello', () => platform.received.find(({ type }) => type === 'hello'));
  }
  afterEach(async () => {
    await daemon.cleanUp();
    await platform.close();
  });

  const shown = (id: number) => platform.inventory()?.containers.find((one) => one.id === id);
  const lines = (id: number) => platform.logs.of(id).lines.map(({ text }) => text.trimEnd());
  const runs = (id: number) => platform.until(`container ${id} runs`, () => shown(id)?.state === 'running');

  it.each([
    ['in the namespace of Docker', []],
    ['in a namespace of its own, as with systemd', ['unshare', '--mount', '--propagation', 'slave', '--']],
  ])('starts containers after a boot as their restart policy says, which Docker cannot: %s', async (_, wrapper) => {
    await start(wrapper);
    const always = asksFor(1, FOREVER, { restartPolicy: 'always' });
    const never = asksFor(2, FOREVER);
    await platform.setDesired([always, never]);
    for (const id of [1, 2]) {
      await runs(id);
      await platform.until('it has looked', () => lines(id).includes('done'));
    }
    expect(lines(1)).toEqual(['inside', 'done']);
    expect(shown(1)?.protections).toContain('volumes');

    // As a boot does: neither the processes nor what was bound are there any more.
    await daemon.end('SIGKILL');
    for (const id of [1, 2]) await docker.getContainer(`stagi-${slugOf(id)}`).kill();
    await endBindings(pathsFrom(daemon.env).volumes);
    await expect(docker.getContainer(`stagi-${slugOf(1)}`).start()).rejects.toThrow();
    daemon.start();
    await platform.until('it runs again', () => lines(1).filter((line) => line === 'inside').length === 2);
    await runs(1);
    expect(shown(2)?.state).toBe('exited');
    expect(await namesIn(join(pathsFrom(daemon.env).volumes, `${ownerFolder()}`))).toEqual(['1']);
  });

  it('lets nothing out, however often another container swaps the directory', async () => {
    await start();
    // Between the two moves the agent may make a new directory: left there, it would end the swapping.
    const swap = `busybox mv x y; busybox ln -sn ${at('outside')} x; busybox rm -rf x; busybox mv y x`;
    const swaps = `cd /a; while :; do ${swap}; busybox usleep 20000; done`;
    const attacker = container(1, swaps, {
      spec: { directories: [{ host: at('allowed/a'), container: '/a' }], nanoCpus: 1e9 },
    });
    await platform.setDesired([attacker]);
    await runs(1);
    const victims = Array.from({ length: RACES }, (_, index) => asksFor(100 + index, LOOK));
    await platform.setDesired([attacker, ...victims]);
    // A directory that was moved meanwhile is tried again: in one burst all could find it moved.
    const isRefused = (id: number) =>
      platform.received.some((one) => one.type === 'failed' && one.containerId === id && one.permanent);
    const over = ({ id }: DesiredContainer) => shown(id)?.state === 'exited' || isRefused(id);
    await platform.until('each has run or was refused', () => victims.every(over), 300_000);
    const started = victims.filter(({ id }) => shown(id)?.state === 'exited');
    console.log(`races for a directory: n = ${RACES}, started ${started.length}, the others refused`);
    expect(started.length).toBeGreaterThan(0);
    expect(await writtenOutside()).toEqual([]);
    for (const { id } of started) expect(lines(id)).not.toContain('secret');
  });

  const ownerFolder = () => `${daemon.labels['stagi.platform']}-${daemon.labels['stagi.node']}`;
});

async function endBindings(volumes: string): Promise<void> {
  for (const owner of await namesIn(volumes)) {
    for (const id of await namesIn(join(volumes, owner))) await releaseFolders(join(volumes, owner, id));
    await rm(join(volumes, owner), { recursive: true });
  }
}
