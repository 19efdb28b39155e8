import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { PulledLayer } from '@stagi/contract/pulledLayer.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readFileIfExists } from './atomicFile.ts';
import { container, createDaemon, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';
import { type PrivateRegistry, PULLER, startPrivateRegistry } from './testing/privateRegistry.ts';

let registry: PrivateRegistry;
let image: string;
let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_400_000;

const LAYERS = [3_000_000, 2_000_000];
const login = (more = {}) => ({ serveraddress: registry.host, ...PULLER, ...more });
const wish = (gen = 1) => container(1, 'sleep 600', { gen, spec: { image } });
const ofType = <T extends DaemonMessage['type']>(type: T) =>
  platform.received.filter((message): message is Extract<DaemonMessage, { type: T }> => message.type === type);
const failure = (gen = 1) =>
  platform.until('it fails', () => ofType('failed').find((one) => one.containerId === 1 && one.gen === gen));
const running = () =>
  platform.until('it runs', () => platform.inventory()?.containers.find(({ state }) => state === 'running'));

beforeAll(async () => {
  await ensureTestImage();
  registry = await startPrivateRegistry();
  image = await registry.push(`private-${process.pid}:1`, LAYERS);
});
afterAll(() => registry?.close());
beforeEach(async () => {
  platform = await startFakePlatform({ node: String(++nodes) });
  daemon = await createDaemon(platform);
  daemon.start();
  await platform.until('a hello', () => ofType('hello')[0]);
});
afterEach(async () => {
  await daemon.cleanUp();
  await platform.close();
  await docker
    .getImage(image)
    .remove()
    .catch((error: { statusCode?: number }) => {
      if (error.statusCode !== 404) throw error;
    });
});

describe('a private registry', () => {
  it('gives its image to the right user, whose password is left nowhere on the server', async () => {
    platform.credentials.set(1, login());
    await platform.setDesired([wish()]);
    await running();
    // Files are replaced while it runs.
    await daemon.end('SIGKILL');
    const files = (await readdir(daemon.folder, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    const written = await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name), 'utf8')));
    const shown = [
      JSON.stringify(await docker.getContainer(`stagi-${slugOf(1)}`).inspect()),
      JSON.stringify(await docker.getImage(image).inspect()),
      JSON.stringify(platform.received),
      daemon.output(),
    ];
    const places = [...written, ...shown];
    const basic = Buffer.from(`${PULLER.username}:${PULLER.password}`).toString('base64');
    const found = places.filter((place) => place.includes(PULLER.password) || place.includes(basic));
    console.log(`password after a pull: n = ${places.length} files and texts, found in ${found.length}`);
    expect(written.length).toBeGreaterThan(4);
    expect(found).toEqual([]);
  });

  it('tells its layers one by one while it is pulled', async () => {
    platform.credentials.set(1, login());
    await platform.setDesired([wish()]);
    await running();
    const told = ofType('progress').flatMap(({ layers }) => (layers ? [layers] : []));
    expect(told.length).toBeGreaterThan(0);
    const most = told.reduce((a, b) => (b.length >= a.length ? b : a));
    // The layer of the test image is there already.
    expect(most.length).toBe(LAYERS.length + 1);
    const states = new Set(told.flat().map(({ status }: PulledLayer) => status));
    console.log(`layers: n = ${told.length} reports, ${[...states].join(', ')}`);
    for (const layers of told) for (const { current, total } of layers) expect(current).toBeLessThanOrEqual(total ?? 0);
    const fractions = ofType('progress').flatMap(({ phase, fraction }) =>
      phase === 'pulling' && fraction !== null ? [fraction] : [],
    );
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  });

  it('refuses a wrong password: named, not tried again until the platform asks for it, then it runs', async () => {
    platform.credentials.set(1, login({ password: 'wrong' }));
    await platform.setDesired([wish()]);
    expect(await failure()).toMatchObject({
      phase: 'pull',
      permanent: true,
      waitsFor: 'credential',
      message: `The registry refused the user name and password for ${registry.host}`,
    });
    // A restart of the daemon does not try again either, and tells the failure anew.
    const records = join(daemon.folder, 'state/containers.json');
    await expect.poll(() => readFileIfExists(records)).toEqual(expect.stringContaining('waitsFor'));
    await daemon.end('SIGKILL');
    daemon.start();
    await platform.until('it is told again', () => ofType('failed').length === 2);
    expect(ofType('failed')[1]).toMatchObject({ waitsFor: 'credential', gen: 1 });
    expect(ofType('pull-auth').length).toBe(1);

    platform.credentials.set(1, login());
    await platform.setDesired([wish(2)]);
    await running();
    expect(ofType('pull-auth').length).toBe(2);
  });

  it('says that it asks for a login where there is none', async () => {
    await platform.setDesired([wish()]);
    const said = await failure();
    expect(said).toMatchObject({
      phase: 'pull',
      permanent: true,
      message: expect.stringContaining('asks for a login'),
    });
    expect(said.waitsFor).toBeUndefined();
  });

  it('gets no credential of another registry, whatever the platform sends', async () => {
    platform.credentials.set(1, login({ serveraddress: 'ghcr.io' }));
    await platform.setDesired([wish()]);
    expect((await failure()).message).toContain('asks for a login');
    expect(daemon.output()).toContain('a credential for another registry');
    expect(daemon.output()).not.toContain(PULLER.password);
  });
});
