import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { EDIT_FEATURE, PROTECTIONS_FEATURE } from '@stagi/contract/daemon.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { inTransaction } from '../../db/pool.ts';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey, type TestDaemon } from '../../testing/daemon.ts';
import { aRentedInstance } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

export type Create = InputOf<typeof api.containers.create>;

const GPUS = [0, 1].map((index) => ({ index, name: 'GPU', memoryMb: 1024 }));

/** The platform with Alice; before each test a server that she has rented, and its daemon connected. */
export function readyServer() {
  const at = {} as { app: TestApp; alice: Person; server: number; daemon: TestDaemon };
  let made = 0;

  beforeAll(async () => {
    at.app = await startTestApp();
    at.alice = await at.app.signUp();
  });
  afterAll(() => at.app?.close());
  beforeEach(async () => {
    at.server = await aRentedInstance(at.app.ctx, at.alice);
    at.daemon = await connectDaemon(at.app.url, await enrol(at.server), {
      facts: { gpus: GPUS },
      features: [EDIT_FEATURE, PROTECTIONS_FEATURE],
    });
  });
  afterEach(() => at.daemon.close());

  async function enrol(id: number, kind: 'rented' | 'self-hosted' = 'rented'): Promise<NodeKey> {
    const { ctx, url } = at.app;
    const { token } = await inTransaction(ctx.db, (trx) => issueEnrolment(ctx, trx, id, kind));
    return enrolNode(url, token);
  }
  function request(more: Partial<Create> = {}): Create {
    made += 1;
    return {
      instanceRef: { id: at.server },
      title: 'Job',
      slug: `job-${made}`,
      dockerImage: 'busybox',
      cpus: 0.1,
      gpuIds: [],
      ...more,
    };
  }
  const create = async (more: Partial<Create> = {}) =>
    (await at.alice.client(api.containers.create, request(more))).entity;
  const view = async (id: number) => (await at.alice.client(api.containers.view, { id })).entity;
  const statusOf = async (id: number) => (await view(id)).status;
  /** Waits for a desired state with this container, in the given state. */
  const desired = (id: number, state?: string) =>
    at.daemon.desired(({ containers }) => containers.some((one) => one.id === id && (!state || one.state === state)));
  const running = async (more: Partial<Create> = {}) => {
    const container = await create(more);
    at.daemon.applyDesired(await desired(container.id));
    await expect.poll(() => statusOf(container.id)).toBe('running');
    return container;
  };
  return { at, join: enrol, request, create, view, statusOf, wanted: desired, running };
}
