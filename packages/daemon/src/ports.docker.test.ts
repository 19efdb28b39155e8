import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { container, createDaemon, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';

const SERVE = 'trap "exit 0" TERM; while :; do sleep 0.2; done';
const ID = 1;

let platform: FakePlatform;
let daemon: TestDaemon;

beforeAll(async () => {
  await ensureTestImage();
  platform = await startFakePlatform({ node: String(9_600_000 + (process.pid % 100_000)) });
  daemon = await createDaemon(platform);
  daemon.start();
});
afterAll(async () => {
  await daemon?.cleanUp();
  await platform?.close();
});

it('binds private ports to loopback, others to the address of the policy, and reports it', async () => {
  const [privatePort, publicPort, unmarkedPort] = [await freeHostPort(), await freeHostPort(), await freeHostPort()];
  const ports = [
    { host: privatePort, container: 80, public: false },
    { host: publicPort, container: 80, public: true },
    // As platforms asked for it before they knew the difference.
    { host: unmarkedPort, container: 81 },
  ];
  await platform.setDesired([container(ID, SERVE, { spec: { ports } })]);
  const running = await platform.until('it runs', () =>
    platform.inventory()?.containers.find(({ id, state }) => id === ID && state === 'running'),
  );
  expect(running.ports).toEqual([
    { host: privatePort, container: 80, address: '127.0.0.1' },
    { host: publicPort, container: 80, address: '0.0.0.0' },
    { host: unmarkedPort, container: 81, address: '0.0.0.0' },
  ]);
  const { NetworkSettings } = await docker.getContainer(`stagi-${slugOf(ID)}`).inspect();
  const bound = Object.values(NetworkSettings.Ports).flatMap((list) => list ?? []);
  const at = (port: number) => bound.filter(({ HostPort }) => HostPort === String(port)).map(({ HostIp }) => HostIp);
  expect(at(privatePort)).toEqual(['127.0.0.1']);
  expect(at(publicPort)).toContain('0.0.0.0');
  expect(at(unmarkedPort)).toContain('0.0.0.0');
});
