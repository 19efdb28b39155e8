import type Dockerode from 'dockerode';
import type { Logger } from 'pino';
import { type Machine, type Provider, ProviderError, type Readiness, type StartRequest } from '../provider.ts';
import { requireLocalCloudAllowed } from './allowed.ts';
import { dockerTrouble, engine, statusCode, unless } from './docker.ts';
import { readHost, upstreamNameServers } from './host.ts';
import { createMachineImage } from './image.ts';
import {
  type ContainerInfo,
  containerOptions,
  diskLabels,
  diskOf,
  inspectMachine,
  isUp,
  label,
  machineLabels,
  machineOfDisk,
  presentContainer,
  presentLeftDisk,
} from './machine.ts';
import { ensureNetwork, networkName, removeNetwork } from './network.ts';
import { leftGb, localOffers, type Size, sizeOf } from './offers.ts';
import { createOperations, stateDuring } from './operations.ts';
import { createPrivilegeSearch, type Privileges } from './privileges.ts';
import { tar } from './tar.ts';

export interface LocalProvider extends Provider {
  /**
   * This machine's address in the network of its rented machines; `null` while there is none. Never throws. Where
   * Docker answers this also begins what `readiness` tells of, so that it is done when somebody rents.
   */
  gateway(): Promise<string | null>;
  /** Takes the network away; fails while a machine stands in it. */
  removeNetwork(): Promise<void>;
  /** Ends the work in the background. Machines stay. */
  close(): Promise<void>;
}

export interface LocalProviderOptions {
  docker: Dockerode;
  /** Tells apart the machines of platforms that share one Docker Engine. */
  environment: string;
  log: Logger;
  dataDir: string;
  originIsLoopback: boolean;
  /** Whether the operator switched the local cloud on by name. */
  allowed: boolean;
}

/** The machine's own engine gives its containers 8 s of these. */
const stopSeconds = 15;

/** The embedded cloud: machines are system containers of this machine's Docker Engine. A machine's ref is its name. */
export function createLocalProvider(options: LocalProviderOptions): LocalProvider {
  requireLocalCloudAllowed(options);
  const { docker, environment, log } = options;
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(environment)) throw new Error(`Not a name for an environment: ${environment}`);
  const image = createMachineImage(options);
  const privileges = createPrivilegeSearch(docker, log);
  const operations = createOperations(log);
  const inTurn = createQueue();

  async function readiness(): Promise<Readiness> {
    try {
      const trouble = await dockerTrouble(docker);
      if (trouble) return { state: 'unavailable', reason: trouble };
      const state = await image.state();
      return state.state === 'ready' ? privileges.state() : state;
    } catch (error) {
      return { state: 'unavailable', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async function start(request: StartRequest): Promise<{ ref: string }> {
    const { name } = request;
    const size = sizeOf(request.offerId);
    if (!size) throw new ProviderError('permanent', `The local cloud has no offer ${request.offerId}`);
    const state = await readiness();
    const set = privileges.found();
    if (state.state !== 'ready' || !set) throw new ProviderError('retryable', 'The local cloud is not ready yet');
    if (!(await inspectMachine(docker, name))) await inTurn(() => create(request, size, set));
    const made = await mine(name);
    if (made.Config.Labels[label.token] !== request.token) {
      throw new ProviderError('permanent', `${name} is the name of a machine made by another order`);
    }
    if (made.State.Status === 'created') {
      const userData = tar([{ path: 'user-data', mode: 0o700, content: request.userData }]);
      const container = docker.getContainer(name);
      await engine('possible', () => container.putArchive(userData, { path: '/var/lib/stagi' }));
      await switchOn(name);
    }
    return { ref: name };
  }

  async function create(request: StartRequest, size: Size, set: Privileges): Promise<void> {
    await requireMemory(size.ramGb);
    const container = containerOptions({
      name: request.name,
      size,
      privileges: set,
      network: (await ensureNetwork(docker, environment)).name,
      labels: machineLabels(environment, request, size),
      nameServers: await upstreamNameServers(),
    });
    try {
      await engine('possible', () => docker.createContainer(container));
    } catch (error) {
      // Somebody made it in the meantime: the caller adopts it.
      if (statusCode(error) !== 409) throw error;
    }
  }

  async function look(name: string): Promise<Machine | null> {
    const machine = await find(name);
    const operation = operations.of(name);
    return machine && operation ? { ...machine, state: stateDuring[operation] } : machine;
  }

  async function find(name: string): Promise<Machine | null> {
    const info = await inspectMachine(docker, name);
    if (info) return belongs(info.Config.Labels) ? presentContainer(info, networkName(environment)) : null;
    const labels = await diskLabels(docker, name);
    return labels && belongs(labels) ? presentLeftDisk(name, labels) : null;
  }

  async function list(): Promise<Machine[]> {
    const filters = { label: [`${label.environment}=${environment}`] };
    const containers = await engine('none', () => docker.listContainers({ all: true, filters }));
    const { Volumes } = await engine('none', () => docker.listVolumes({ filters }));
    const names = new Set([
      ...containers.map(({ Names }) => Names[0]!.slice(1)),
      ...(Volumes ?? []).map(({ Name }) => machineOfDisk(Name)),
    ]);
    const machines = await Promise.all([...names].map(look));
    return machines.filter((machine) => machine !== null);
  }

  async function stop(ref: string): Promise<void> {
    if (!isUp(await mine(ref))) return;
    await operations.run(ref, 'stop', () =>
      ignoring([304, 404], () => docker.getContainer(ref).stop({ t: stopSeconds })),
    );
  }

  async function resume(ref: string): Promise<void> {
    if (operations.of(ref)) throw new ProviderError('retryable', `${ref} is not stopped yet`);
    const info = await mine(ref);
    if (isUp(info)) return;
    await inTurn(async () => {
      await requireMemory(Number(info.Config.Labels[label.memory]));
      await switchOn(ref);
    });
  }

  async function reboot(ref: string): Promise<void> {
    if (!isUp(await mine(ref))) throw new ProviderError('permanent', `${ref} is not running`);
    await operations.run(ref, 'reboot', () =>
      ignoring([404], () => docker.getContainer(ref).restart({ t: stopSeconds })),
    );
  }

  async function terminate(ref: string): Promise<void> {
    if (!(await find(ref))) return;
    await operations.run(ref, 'terminate', async () => {
      const container = docker.getContainer(ref);
      // 409: another removal is under way.
      await ignoring([404, 409], () => container.remove({ force: true, v: true }));
      await ignoring([404], () => container.wait({ condition: 'removed' }));
      await ignoring([404], () => docker.getVolume(diskOf(ref)).remove());
    });
  }

  async function switchOn(name: string): Promise<void> {
    await unless(304, undefined, () => engine('possible', () => docker.getContainer(name).start()));
  }

  async function requireMemory(ramGb: number): Promise<void> {
    if (leftGb(await readHost(docker)) >= ramGb) return;
    throw new ProviderError('noCapacity', 'This machine has not enough memory left');
  }

  async function mine(ref: string): Promise<ContainerInfo> {
    const info = await inspectMachine(docker, ref);
    if (!info || !belongs(info.Config.Labels)) throw new ProviderError('permanent', `There is no machine ${ref}`);
    return info;
  }

  function belongs(labels: Record<string, string>): boolean {
    return labels[label.environment] === environment;
  }

  return {
    name: 'local',
    title: 'This machine',
    traits: {
      canStop: true,
      billedWhenStopped: false,
      readiness: 'daemon',
      hostUsername: 'root',
      deadlineMs: 10 * 60_000,
    },
    readiness,
    offers: async () => localOffers(await readHost(docker)),
    start,
    look,
    list,
    stop,
    resume,
    reboot,
    terminate,
    async gateway() {
      if (await dockerTrouble(docker)) return null;
      void readiness();
      try {
        return (await ensureNetwork(docker, environment)).gateway;
      } catch (error) {
        log.warn({ err: error }, 'the network of the local cloud cannot be made');
        return null;
      }
    },
    removeNetwork: () => removeNetwork(docker, environment),
    close: () => image.close(),
  };
}

async function ignoring(statuses: number[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!statuses.includes(statusCode(error) ?? 0)) throw error;
  }
}

/** Runs work in turn, so that two starts cannot be given the same memory. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}
