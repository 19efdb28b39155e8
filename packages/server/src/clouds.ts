import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createFakeProvider } from './providers/fake/fake.ts';
import { createLocalProvider, type LocalProvider } from './providers/local/local.ts';
import { paced } from './providers/pacing.ts';
import type { Provider } from './providers/provider.ts';

const GATEWAY_CHECK_MS = 5_000;

export interface Clouds {
  providers: ReadonlyMap<string, Provider>;
  /** This machine's address in the network of the local cloud; `null` while there is none. */
  gateway(): string | null;
  /** Calls back with each new gateway address, now and later: Docker may be started after the platform. */
  onGateway(listener: (address: string) => Promise<void>): void;
  close(): Promise<void>;
}

/** The clouds that the configuration names. Docker that does not answer is no error: the local cloud says so itself. */
export async function openClouds(config: Config, log: Logger): Promise<Clouds> {
  const providers = new Map<string, Provider>();
  let local: LocalProvider | null = null;
  if (config.localCloud === 'on' || (config.localCloud === 'auto' && config.originIsLoopback)) {
    const { default: Dockerode } = await import('dockerode');
    local = createLocalProvider({
      docker: new Dockerode({ socketPath: config.dockerSocket }),
      environment: config.environment,
      log,
      dataDir: config.dataDir,
      originIsLoopback: config.originIsLoopback,
      allowed: config.localCloud === 'on',
    });
    providers.set(local.name, local);
  }
  if (config.fakeCloudUrl) {
    const fake = createFakeProvider({ url: config.fakeCloudUrl, environment: config.environment });
    providers.set(fake.name, paced(fake));
  }
  if (config.fakeFixedCloudUrl) {
    const { environment, fakeFixedCloudUrl: url } = config;
    const fixed = createFakeProvider({ url, environment, isFixed: true });
    providers.set(fixed.name, paced(fixed));
  }

  let gateway = (await local?.gateway()) ?? null;
  const listeners: ((address: string) => Promise<void>)[] = [];
  const tell = (listener: (address: string) => Promise<void>): void => {
    if (gateway)
      listener(gateway).catch((error: unknown) =>
        log.error({ err: error, gateway }, 'cannot serve the machines of the local cloud'),
      );
  };
  let looking: Promise<void> | null = null;
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = null;
    });
  }, GATEWAY_CHECK_MS).unref();

  async function look(): Promise<void> {
    const now = (await local?.gateway()) ?? null;
    if (now === gateway) return;
    gateway = now;
    for (const listener of listeners) tell(listener);
  }

  return {
    providers,
    gateway: () => gateway,
    onGateway(listener) {
      listeners.push(listener);
      tell(listener);
    },
    async close() {
      clearInterval(timer);
      // A look makes the network when there is none: after its end it would stay.
      await looking;
      await local?.close();
      if (local) await leaveNothing(local, log);
    },
  };
}

/** The network goes with the platform unless machines stay, stopped ones too: they could not start without it. */
async function leaveNothing(local: LocalProvider, log: Logger): Promise<void> {
  try {
    if ((await local.list()).length === 0) await local.removeNetwork();
  } catch (error) {
    log.debug({ err: error }, 'the network of the local cloud stays');
  }
}
