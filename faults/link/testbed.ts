import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import type { LogGap, LogLine } from '@stagi/contract/logging.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureTestImage, TEST_IMAGE } from '@stagi/daemon/src/testing/image.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type ChaosProxy, startChaosProxy } from './chaosProxy.ts';
import { type PlatformProcess, preparePlatform } from './platformProcess.ts';
import type { Random } from './random.ts';

/** The real platform, a real daemon on this machine's Docker, and the chaos proxy between them. */
export interface LinkTestbed {
  platform: PlatformProcess;
  proxy: ChaosProxy;
  daemon: TestDaemon;
  person: Person;
  node: string;
  create(slug: string, script: string, cpus?: number): Promise<Container>;
  view(id: number): Promise<Container>;
  /** What is stored of a container's log, from the first line on. */
  readLog(id: number): AsyncGenerator<LogLine[], LogGap[]>;
  lastSeq(id: number): Promise<number>;
  cleanUp(): Promise<void>;
}

export async function createLinkTestbed(random: Random): Promise<LinkTestbed> {
  await ensureTestImage();
  const proxyPort = await freePort();
  const platform = await preparePlatform(proxyPort);
  const proxy = await startChaosProxy(() => platform.port, random, { port: proxyPort });
  try {
    return await inhabit(platform, proxy);
  } catch (error) {
    await proxy.close();
    await platform.cleanUp();
    throw error;
  }
}

async function inhabit(platform: PlatformProcess, proxy: ChaosProxy): Promise<LinkTestbed> {
  await platform.start();
  const person = await signUp(platform.url, httpSender(platform.url), { name: 'Kim', email: 'kim@example.com' });
  const joined = await person.client(api.selfHosted.create, { title: 'Mine', slug: 'mine' });
  const node = String(joined.entity.id);
  const daemon = await createDaemon({ node, token: async () => joined.daemonToken });
  daemon.start();
  await until('the server is online', async () => {
    const { entity } = await person.client(api.selfHosted.view, { id: Number(node) });
    return entity.status === 'online';
  });

  const query = (id: number, after: number) =>
    person.client(api.logging.query, { source: { type: 'docker-container', id }, cursor: { after }, limit: 1000 });
  return {
    platform,
    proxy,
    daemon,
    person,
    node,
    async create(slug, script, cpus = 0.5) {
      const { entity } = await person.client(api.containers.create, {
        instanceRef: { id: Number(node) },
        title: slug,
        slug,
        dockerImage: TEST_IMAGE,
        command: `sh -c '${script}'`,
        cpus,
      });
      return entity;
    },
    view: async (id) => (await person.client(api.containers.view, { id })).entity,
    async *readLog(id) {
      const gaps = new Map<number, LogGap>();
      for (let after = 0; ; ) {
        const page = await query(id, after);
        for (const gap of page.gaps) gaps.set(gap.afterSeq, gap);
        if (page.lines.length === 0) return [...gaps.values()];
        yield page.lines;
        after = page.lines.at(-1)!.seq;
      }
    },
    lastSeq: async (id) => (await query(id, 2 ** 31)).lastSeq,
    async cleanUp() {
      await daemon.cleanUp();
      await proxy.close();
      await platform.cleanUp();
    },
  };
}

/** Polls until the check is true; an error counts as false. */
export async function until(what: string, check: () => Promise<boolean> | boolean, ms = 60_000): Promise<void> {
  const deadline = performance.now() + ms;
  let last: unknown = null;
  for (;;) {
    try {
      if (await check()) return;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms in vain: ${what}`, { cause: last });
    await pause(25);
  }
}
