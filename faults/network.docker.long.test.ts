import { container, createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage } from '@stagi/daemon/src/testing/image.ts';
import { type FakePlatform, startFakePlatform } from '@stagi/daemon/src/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChaosProxy, startChaosProxy } from './link/chaosProxy.ts';
import { makeNetworkNamespace, type NetworkNamespace } from './link/netns.ts';
import { randomFrom } from './link/random.ts';

const LOST_FOR_MS = 10_000;
const CHATTER = 'n=0; while :; do seq $((n*100+1)) $((n*100+100)); n=$((n+1)); sleep 0.2; done';
const QUIET = 'trap "exit 0" TERM; while :; do sleep 0.1; done';

describe('a daemon in its own network namespace', () => {
  let network: NetworkNamespace;
  let reason: string | null = null;
  let platform: FakePlatform;
  let proxy: ChaosProxy;
  let daemon: TestDaemon;

  const running = (id: number, gen: number) =>
    platform.inventory()?.containers.find((one) => one.id === id && one.gen === gen && one.state === 'running');

  beforeAll(async () => {
    const made = makeNetworkNamespace();
    if ('reason' in made) {
      reason = made.reason;
      return;
    }
    network = made;
    await ensureTestImage();
    platform = await startFakePlatform({ node: String(9_400_000 + (process.pid % 100_000)) });
    const port = () => Number(new URL(platform.origin).port);
    proxy = await startChaosProxy(port, randomFrom(1), { host: network.address });
    const origin = `http://${network.address}:${proxy.port}`;
    daemon = await createDaemon(
      { node: platform.node, token: () => platform.token({ origin }) },
      { wrapper: network.wrapper },
    );
    daemon.start();
    await platform.until('a hello', () => platform.received.find(({ type }) => type === 'hello'));
  });
  afterAll(async () => {
    await daemon?.cleanUp();
    await proxy?.close();
    await platform?.close();
    network?.remove();
  });

  it('reaches the desired state within seconds after a total packet loss', async ({ skip }) => {
    if (reason !== null) skip(`no network namespace here: ${reason}`);
    await platform.setDesired([container(1, QUIET)]);
    await platform.until('it runs', () => running(1, 1));
    network.drop();
    await platform.setDesired([container(1, QUIET), container(2, QUIET)]);
    await new Promise((resolve) => setTimeout(resolve, LOST_FOR_MS));
    expect(platform.inventory()?.containers.map(({ id }) => id)).toEqual([1]);
    const begun = performance.now();
    network.fair();
    await platform.until('the other one runs', () => running(2, 1), 60_000);
    const ms = performance.now() - begun;
    console.log(
      `packets lost for ${LOST_FOR_MS / 1000} s: right ${(ms / 1000).toFixed(1)} s after their return, n = 1`,
    );
    expect(ms).toBeLessThan(15_000);
  });

  it('follows the desired state on a link of 4 kB/s with a log of 12 kB/s', async ({ skip }) => {
    if (reason !== null) skip(`no network namespace here: ${reason}`);
    network.shape(32_000);
    await platform.setDesired([container(3, CHATTER)]);
    await platform.until('lines come', () => platform.logs.of(3).lines.length > 0, 60_000);
    const links = platform.linkCount();
    const begun = performance.now();
    await platform.setDesired([container(3, CHATTER), container(4, QUIET)]);
    await platform.until('the wish is seen done', () => running(4, 1), 90_000);
    const ms = performance.now() - begun;
    console.log(`a line of 4 kB/s with a talkative container: done after ${(ms / 1000).toFixed(1)} s, n = 1`);
    expect(ms).toBeLessThan(60_000);
    expect(platform.linkCount()).toBe(links);
    network.fair();
  });
});
