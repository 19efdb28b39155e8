import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import { createFakeProvider } from './providers/fake/fakeProvider.ts';
import { createLocalProvider, type LocalProvider } from './providers/local/localProvider.ts';
import type { Provider } from './providers/provider.ts';
import { rateLimited } from './providers/rateLimit.ts';
import { untouched } from './providers/untouched.ts';

const GATEWAY_CHECK_MS = 5_000;

export interface Clouds {
  providers: ReadonlyMap<string, Provider>;
  /** This machine's address in the network of the local cloud; `null` while there is none. */
  gateway(): string | null;
  /** Calls back with each new gateway address, now and later: Docker may be started after the platform. */
  onGateway(listener: (address: string) => Promise<void>): void;
  close(): Promise<void>;
}

/** The configured clouds. Docker not answering is no error here: the local cloud reports it. */
export async function connectClouds(config: Config, log: Logger): Promise<Clouds> {
  const { providers, local } = await configuredClouds(config, log);
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
      // A running check creates the network if there is none, so it must end before the network is removed.
      await looking;
      await local?.close();
      if (local) await removeNetwork(local, log);
    },
  };
}

/** The same clouds for a held platform: it knows their names, and neither asks nor prepares any of them. */
export async function nameClouds(config: Config, log: Logger): Promise<Clouds> {
  const { providers } = await configuredClouds(config, log);
  return {
    providers: new Map([...providers].map(([name, provider]) => [name, untouched(provider)])),
    gateway: () => null,
    onGateway() {},
    async close() {},
  };
}

async function configuredClouds(
  config: Config,
  log: Logger,
): Promise<{ providers: Map<string, Provider>; local: LocalProvider | null }> {
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
    providers.set(fake.name, rateLimited(fake));
  }
  if (config.fakeFixedCloudUrl) {
    const { environment, fakeFixedCloudUrl: url } = config;
    const fixed = createFakeProvider({ url, environment, isFixed: true });
    providers.set(fixed.name, rateLimited(fixed));
  }
  return { providers, local };
}

/** Removes the local cloud's network unless there are machines, as stopped ones could not start without it. */
async function removeNetwork(local: LocalProvider, log: Logger): Promise<void> {
  try {
    if ((await local.list()).length === 0) await local.removeNetwork();
  } catch (error) {
    log.debug({ err: error }, 'the network of the local cloud stays');
  }
}
