import { setTimeout as pause } from 'node:timers/promises';
import { type ChaosProxy, NORMAL_CONDITIONS } from './chaosProxy.ts';
import type { Random } from './random.ts';

/** A network fault; resolves when it is over and the network is normal again. */
type FaultScenario = (proxy: ChaosProxy, random: Random, ms: number) => Promise<void>;

export const FAULT_SCENARIOS: Record<string, FaultScenario> = {
  async slow(proxy, random, ms) {
    proxy.set({ latencyMs: random.between(50, 800), jitterMs: random.between(0, 1000) });
    await pause(ms);
  },
  async narrow(proxy, random, ms) {
    proxy.set({ bytesPerSecond: random.pick([1_000, 4_000, 16_000, 64_000]), latencyMs: random.between(0, 200) });
    await pause(ms);
  },
  async blackhole(proxy, _random, ms) {
    proxy.set({ blackhole: true });
    await pause(ms);
  },
  async resets(proxy, random, ms) {
    proxy.set({ latencyMs: random.between(0, 100), splitBytes: Math.ceil(random.between(1, 300)) });
    for (const end = Date.now() + ms; Date.now() < end; ) {
      proxy.reset();
      await pause(random.between(200, 2500));
    }
  },
  async refusal(proxy, _random, ms) {
    proxy.set({ refuse: true });
    proxy.reset();
    await pause(ms);
  },
  async halfOpen(proxy, random, ms) {
    proxy.halfOpen();
    await pause(Math.min(ms, random.between(500, 3000)));
  },
  async crumbs(proxy, random, ms) {
    proxy.set({ splitBytes: Math.ceil(random.between(1, 20)), jitterMs: random.between(0, 60) });
    await pause(ms);
  },
  async replays(proxy, random, ms) {
    for (const end = Date.now() + ms; Date.now() < end; ) {
      proxy.replay(Math.ceil(random.between(1, 6)));
      await pause(random.between(100, 1000));
    }
  },
  async replaysOverResets(proxy, random, ms) {
    for (const end = Date.now() + ms; Date.now() < end; ) {
      proxy.replay(3);
      await pause(random.between(300, 3000));
      proxy.reset();
    }
  },
};

export function restoreNetwork(proxy: ChaosProxy): void {
  proxy.set(NORMAL_CONDITIONS);
}
