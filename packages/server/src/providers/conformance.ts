import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Machine, Provider, StartRequest } from './provider.ts';

export interface Setup {
  provider: Provider;
  /** The same cloud for another environment. */
  otherEnvironment: Provider;
  environment: string;
  close(): Promise<void>;
}

/** The conformance tests of provider adapters; `prepare` makes a cloud without machines. */
export function describeProvider(title: string, prepare: () => Promise<Setup>, timeoutMs = 60_000): void {
  describe(title, { timeout: timeoutMs }, () => {
    let stage: Setup;
    let cloud: Provider;

    beforeAll(async () => {
      stage = await prepare();
      cloud = stage.provider;
    }, 600_000);

    afterAll(async () => {
      for (const machine of (await stage?.provider.list()) ?? []) await stage.provider.terminate(machine.ref);
      await stage?.close();
    }, 60_000);

    const installation = randomUUID();
    const requestFor = async (id: string): Promise<StartRequest> => ({
      token: `token-${id}`,
      name: `stagi-${stage.environment}-${id}`,
      offerId: (await cloud.offers())[0]!.id,
      tags: { env: stage.environment, resource: id, op: `token-${id}`, installation },
      userData: '#!/bin/sh\necho hello\n',
    });

    it('is ready', async () => {
      expect(await cloud.readiness()).toEqual({ state: 'ready' });
    });

    it('has offers with stable ids and prices in whole micro-units', async () => {
      const offers = await cloud.offers();
      expect(offers.length).toBeGreaterThan(0);
      expect(new Set(offers.map(({ id }) => id)).size).toBe(offers.length);
      expect(
        offers.every(({ pricePerHour, stoppedPricePerHour }) => pricePerHour > 0n && stoppedPricePerHour >= 0n),
      ).toBe(true);
      expect((await cloud.offers()).map(({ id }) => id)).toEqual(offers.map(({ id }) => id));
    });

    it('returns null for an unknown name', async () => {
      expect(await cloud.getMachine(`stagi-${stage.environment}-nobody`)).toBeNull();
    });

    it('starts a machine idempotently: one for many, also concurrent, requests', async () => {
      const request = await requestFor('twice');
      const refs = await Promise.all([cloud.start(request), cloud.start(request), cloud.start(request)]);
      refs.push(await cloud.start(request));
      expect(new Set(refs.map(({ ref }) => ref)).size).toBe(1);
      const named = (await cloud.list()).filter(({ name }) => name === request.name);
      expect(named).toHaveLength(1);
      expect(named[0]).toMatchObject({ ref: refs[0]!.ref, tags: request.tags });
    });

    it('shows the machine running, with its address, its tags and its age', async () => {
      const request = await requestFor('twice');
      const machine = await waitForState(cloud, request.name, 'running');
      expect(machine).toMatchObject({ name: request.name, tags: request.tags, detail: null });
      expect(machine.ip).toMatch(/^\d+(\.\d+){3}$/);
      expect(machine.createdAt.getTime()).toBeGreaterThan(Date.now() - timeoutMs);
    });

    it('refuses a name that another token has', async () => {
      const request = { ...(await requestFor('twice')), token: 'token-of-another-order' };
      await expect(cloud.start(request)).rejects.toMatchObject({ kind: 'permanent' });
    });

    it('hides the machines of one environment from another', async () => {
      const { name } = await requestFor('twice');
      expect(await stage.otherEnvironment.list()).toEqual([]);
      expect(await stage.otherEnvironment.getMachine(name)).toBeNull();
    });

    it('refuses an unknown offer permanently', async () => {
      const request = await requestFor('unknown');
      await expect(cloud.start({ ...request, offerId: 'no-such-offer' })).rejects.toMatchObject({ kind: 'permanent' });
      expect(await cloud.getMachine(request.name)).toBeNull();
    });

    it('stops and resumes a machine idempotently', async () => {
      const { ref, name } = (await cloud.getMachine((await requestFor('twice')).name))!;
      await cloud.stop!(ref);
      await waitForState(cloud, name, 'stopped');
      await cloud.stop!(ref);
      await vi.waitFor(() => cloud.resume!(ref), { timeout: timeoutMs });
      await cloud.resume!(ref);
      await waitForState(cloud, name, 'running');
    });

    it('reboots a running machine and shows it running', async () => {
      const { ref, name } = (await cloud.getMachine((await requestFor('twice')).name))!;
      await cloud.reboot!(ref);
      await waitForState(cloud, name, 'running');
    });

    it('does not resume, stop or reboot an unknown machine', async () => {
      for (const verb of ['stop', 'resume', 'reboot'] as const) {
        await expect(cloud[verb]!('no-such-ref'), verb).rejects.toMatchObject({ kind: 'permanent' });
      }
    });

    it('terminates a machine idempotently, until nothing of it is listed', async () => {
      const { ref, name } = (await cloud.getMachine((await requestFor('twice')).name))!;
      await cloud.terminate(ref);
      await vi.waitFor(async () => expect(await cloud.getMachine(name)).toBeNull(), { timeout: timeoutMs });
      expect(await cloud.list()).toEqual([]);
      await cloud.terminate(ref);
      await cloud.terminate('no-such-ref');
    });
  });
}

async function waitForState(cloud: Provider, name: string, state: Machine['state']): Promise<Machine> {
  return vi.waitFor(
    async () => {
      const machine = await cloud.getMachine(name);
      expect(machine).toMatchObject({ state });
      return machine!;
    },
    { timeout: 30_000, interval: 20 },
  );
}
