import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { inTransaction } from '../../db/pool.ts';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import { type CloudApp, startCloudApp } from '../../testing/cloudApp.ts';
import { connectDaemon, enrolNode, type TestDaemon } from '../../testing/daemon.ts';
import { aRentedInstance } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

export type Deploy = InputOf<typeof api.modelEndpoints.deploy>;

export const SMALL = { id: 'Qwen/Qwen3-0.6B' };
export const LLAMA = { id: 'meta-llama/Llama-3.1-8B-Instruct' };
export const L4 = { index: 0, name: 'NVIDIA L4', memoryMb: 23_034 };

interface ModelsApp {
  app: CloudApp;
  alice: Person;
  /** Connects the daemon of a server. It is closed after the test. */
  join(id: number, facts: Partial<MachineFacts>, kind?: 'rented' | 'self-hosted'): Promise<TestDaemon>;
  /** An online server with these GPUs. */
  aServer(gpus?: MachineFacts['gpus'], ramGb?: number): Promise<{ id: number; daemon: TestDaemon }>;
  form(more: Partial<Deploy>): Deploy;
  deploy(more: Partial<Deploy>): Promise<ModelEndpoint>;
  view(id: number): Promise<ModelEndpoint>;
  container(id: number): Promise<Container>;
}

/** Somebody who deploys models, for all tests of a file. */
export function aModelsApp(): ModelsApp {
  const daemons: TestDaemon[] = [];
  let made = 0;
  const at: ModelsApp = {
    app: undefined as never,
    alice: undefined as never,
    async join(id, facts, kind = 'rented') {
      const { token } = await inTransaction(at.app.ctx.db, (trx) => issueEnrolment(at.app.ctx, trx, id, kind));
      const { url } = at.app;
      const daemon = await connectDaemon(url, await enrolNode(url, token), { facts, features: [EDIT_FEATURE] });
      daemons.push(daemon);
      return daemon;
    },
    async aServer(gpus = [], ramGb = 32) {
      const id = await aRentedInstance(at.app.ctx, at.alice);
      return { id, daemon: await at.join(id, { gpus, cpus: 8, ramBytes: ramGb * 2 ** 30 }) };
    },
    form(more) {
      made += 1;
      return {
        modelRef: SMALL,
        quality: 'original',
        template: 'vllm',
        title: 'A model',
        slug: `model-${made}`,
        cpus: 1,
        port: 8000,
        ...more,
      };
    },
    deploy: async (more) => (await at.alice.client(api.modelEndpoints.deploy, at.form(more))).entity,
    view: async (id) => (await at.alice.client(api.modelEndpoints.view, { id })).entity,
    container: async (id) => (await at.alice.client(api.containers.view, { id })).entity,
  };
  beforeAll(async () => {
    at.app = await startCloudApp();
    at.alice = await at.app.signUp('Alice');
  });
  afterEach(async () => {
    for (const daemon of daemons.splice(0)) await daemon.close();
  });
  afterAll(() => at.app?.close());
  return at;
}
