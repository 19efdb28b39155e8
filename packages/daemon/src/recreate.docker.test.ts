import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startConnectedDaemon } from './testing/connectedDaemon.ts';
import { container, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import type { FakePlatform } from './testing/platform.ts';
import { startRegistry } from './testing/registry.ts';

let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_400_000 + (process.pid % 10_000) * 10;

const FOREVER = 'trap "exit 0" TERM; i=0; while :; do i=$((i+1)); echo $WORD $i; sleep 0.1; done';

beforeAll(() => ensureTestImage());
beforeEach(async () => {
  ({ platform, daemon } = await startConnectedDaemon(String(++nodes)));
});
afterEach(async () => {
  await daemon.cleanUp();
  await platform.close();
  expect(platform.logs.faults).toEqual([]);
});

const shown = (id = 1): ActualContainer | undefined => platform.inventory()?.containers.find((one) => one.id === id);
const reaches = (state: ActualContainer['state'], specNo: number, gen: number) =>
  platform.until(`the container is ${state} with specification ${specNo}`, () => {
    const found = shown();
    return found?.state === state && found.specNo === specNo && found.gen === gen && found;
  });
const inspect = () => docker.getContainer(`stagi-${slugOf(1)}`).inspect();
const failures = (gen: number) =>
  platform.received.flatMap((one) => (one.type === 'failed' && one.gen === gen ? [one] : []));
const wants = (gen: number, specNo: number, more: Partial<DesiredContainer['spec']> = {}) =>
  container(1, FOREVER, { gen, specNo, spec: { env: [{ name: 'WORD', value: `spec${specNo}` }], ...more } });

/** The shell says so of its `sleep`, which gets the stop signal too. */
const SLEEP_ENDED = 'Terminated';

describe('a changed container', () => {
  it('is recreated with its name and volumes, and its log goes on without a gap', async () => {
    const volume = await mkdtemp(join(tmpdir(), 'stagi-volume-'));
    const directories = [{ host: volume, container: '/kept' }];
    const write = 'echo $WORD >> /kept/words; echo $WORD > /lost; ';
    const target = (specNo: number) => wants(specNo, specNo, { directories, command: ['sh', '-c', write + FOREVER] });
    await platform.setDesired([target(1)]);
    const first = await reaches('running', 1, 1);
    await platform.until('lines', () => platform.logs.of(1).lines.length >= 5);
    await platform.setDesired([target(2)]);
    const second = await reaches('running', 2, 2);
    expect(second.dockerId).not.toBe(first.dockerId);
    await expect(docker.getContainer(first.dockerId).inspect()).rejects.toThrow('No such container');
    const logOf = ({ dockerId }: ActualContainer) => platform.logs.byEpoch.get(dockerId);
    await platform.until('lines of the new one', () => (logOf(second)?.lines.length ?? 0) >= 5);
    const [before, after] = [logOf(first)!, logOf(second)!];
    // Everything that the old one printed until its removal.
    expect(before).toMatchObject({ ends: 1, gaps: [] });
    const textsOf = (word: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${word} ${index + 1}`);
    const printed = before.lines.map(({ text }) => text).filter((line) => line !== SLEEP_ENDED);
    expect(printed).toEqual(textsOf('spec1', printed.length));
    expect(after.lines.map(({ text }) => text)).toEqual(textsOf('spec2', after.lines.length));
    expect((await inspect()).Mounts).toMatchObject([
      { Source: expect.stringContaining(daemon.folder), Destination: '/kept' },
    ]);
    expect(await readFile(join(volume, 'words'), 'utf8')).toBe('spec1\nspec2\n');
    await rm(volume, { recursive: true });
  });

  it('goes on as it was when the new image cannot be pulled, for a while or for good, and when the change is undone', async () => {
    const registry = await startRegistry();
    await platform.setDesired([wants(1, 1)]);
    const { dockerId, startedAt } = await reaches('running', 1, 1);
    // Nothing listens on port 1.
    await platform.setDesired([wants(2, 2, { image: '127.0.0.1:1/thing:1' })]);
    await platform.until('two attempts', () => failures(2).length >= 2);
    expect(failures(2)[0]).toMatchObject({ phase: 'pull', permanent: false, attempt: 1 });
    await platform.setDesired([wants(3, 3, { image: `${registry.host}/missing:1` })]);
    await platform.until('a failure', () => failures(3).length > 0);
    expect(failures(3)).toMatchObject([{ phase: 'pull', permanent: true }]);
    expect(shown()).toMatchObject({ dockerId, startedAt, state: 'running', specNo: 1 });
    await platform.setDesired([wants(4, 1)]);
    expect(await reaches('running', 1, 4)).toMatchObject({ dockerId, startedAt });
    await registry.close();
  });

  it('goes on while the new image is pulled, also when another change comes meanwhile', async () => {
    const registry = await startRegistry({ held: true });
    await platform.setDesired([wants(1, 1)]);
    const { dockerId, startedAt } = await reaches('running', 1, 1);
    await platform.setDesired([wants(2, 2, { image: registry.image })]);
    await platform.until('it is pulling', () =>
      platform.received.some((one) => one.type === 'progress' && one.phase === 'pulling'),
    );
    expect(shown()).toMatchObject({ dockerId, startedAt, state: 'running' });
    expect((await inspect()).State.Running).toBe(true);
    await platform.setDesired([wants(3, 3)]);
    await reaches('running', 3, 3);
    registry.release();
    await registry.close();
  });

  it('goes on as it was when the policy of the server refuses the change', async () => {
    await platform.setDesired([wants(1, 1)]);
    const { dockerId } = await reaches('running', 1, 1);
    await platform.setDesired([wants(2, 2, { directories: [{ host: '/etc', container: '/x' }] })]);
    await platform.until('a failure', () => failures(2).length > 0);
    expect(failures(2)).toMatchObject([{ phase: 'create', permanent: true }]);
    expect(shown()).toMatchObject({ dockerId, state: 'running' });
  });

  it('stays stopped when it was stopped, and has the change once it is started', async () => {
    await platform.setDesired([wants(1, 1)]);
    await reaches('running', 1, 1);
    await platform.setDesired([{ ...wants(2, 1), state: 'stopped' }]);
    await reaches('exited', 1, 2);
    await platform.setDesired([{ ...wants(3, 2), state: 'stopped' }]);
    expect(await reaches('created', 2, 3)).toMatchObject({ startedAt: null });
    await platform.setDesired([wants(4, 2)]);
    await reaches('running', 2, 4);
    expect((await inspect()).Config.Env).toContain('WORD=spec2');
  });
});

describe('a container', () => {
  it('has the shared memory and the health check that were asked for, and its health is reported', async () => {
    const healthCheck = {
      command: 'cat /tmp/ready',
      intervalSeconds: 1,
      timeoutSeconds: 1,
      retries: 1,
      startPeriodSeconds: 1,
    };
    await platform.setDesired([
      container(1, 'echo 1 > /tmp/ready; trap "exit 0" TERM; while :; do sleep 0.1; done', {
        spec: { shmBytes: 32 * 2 ** 20, healthCheck },
      }),
    ]);
    await platform.until('it is healthy', () => shown()?.health === 'healthy');
    const { HostConfig, Config } = await inspect();
    expect(HostConfig.ShmSize).toBe(32 * 2 ** 20);
    expect(Config.Healthcheck).toEqual({
      Test: ['CMD-SHELL', 'cat /tmp/ready'],
      Interval: 1e9,
      Timeout: 1e9,
      Retries: 1,
      StartPeriod: 1e9,
    });
    await platform.setDesired([
      container(1, FOREVER, { gen: 2, specNo: 2, spec: { healthCheck: { ...healthCheck, command: 'false' } } }),
    ]);
    await platform.until('it is unhealthy', () => shown()?.health === 'unhealthy');
    await platform.setDesired([container(1, FOREVER, { gen: 3, specNo: 2, state: 'stopped' })]);
    await platform.until('it is stopped', () => shown()?.state === 'exited');
    expect(shown()?.health).toBeUndefined();
  });

  it('prints no value of a secret variable to the platform', async () => {
    const env = [
      { name: 'TOKEN', value: 'canary-0a1b2c', secret: true },
      { name: 'MODE', value: 'visible-value' },
    ];
    await platform.setDesired([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
      container(1, 'echo "$TOKEN and $MODE"; echo "x${TOKEN}y" >&2; head -c 20000 /dev/zero | tr "\\0" z', {
        spec: { env },
      }),
    ]);
    await platform.until('the log has ended', () => platform.logs.of(1).ends >= 1);
    const texts = platform.logs.of(1).lines.map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(['*** and visible-value', 'x***y']));
    expect(texts.join('\n')).not.toContain('canary');
    expect(JSON.stringify(platform.received)).not.toContain('canary');
    expect((await inspect()).Config.Env).toContain('TOKEN=canary-0a1b2c');
  });
});
