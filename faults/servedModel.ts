import { api } from '@stagi/contract/api.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { createDaemon, type TestDaemon } from '@stagi/daemon/src/testing/daemon.ts';
import { ensureEngineImage } from '@stagi/daemon/src/testing/engine/engineImage.ts';
import { type ModelLab, startModelLab } from './modelLab.ts';
import { until } from './until.ts';

/** Slow, so that an answer is under way for seconds. */
const CPUS = 0.3;
const PROMPT = 'Tell me of the canary by the river.';
/** A lab whose owner has a server, with a daemon of its own, that engines run on. */
export interface ServedModelLab extends ModelLab {
  daemon: TestDaemon;
  serverId: number;
  /** Serves the tiny model there. */
  serve(): Promise<ModelEndpoint>;
  /** Waits until it is ready. */
  isReady(id: number): Promise<unknown>;
}

export async function startServedModelLab(): Promise<ServedModelLab> {
  const dockerImage = await ensureEngineImage();
  const lab = await startModelLab({ LOG_LEVEL: 'debug' });
  const server = await lab.ownServer();
  const daemon = await createDaemon({ node: String(server.id), token: async () => server.token });
  const close = async (): Promise<void> => {
    await daemon.cleanUp();
    await lab.close();
  };
  daemon.start();
  try {
    await until('the server is online', async () => {
      const { entity } = await lab.owner.client(api.selfHosted.view, { id: server.id });
      return entity.status === 'online';
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...lab,
    ...{ daemon, serverId: server.id, close },
    serve: () => lab.deploy(server.id, { cpus: CPUS, dockerImage, token: 'hf_canary_of_the_hub' }),
    isReady: (id) => until('it is ready', async () => (await lab.check(id)).status === 'ready', 60_000, 200),
  };
}

export const questionOf = (id: number, maxTokens: number, content = PROMPT) => ({
  endpointRef: { id },
  messages: [{ role: 'user' as const, content }],
  maxTokens,
});
