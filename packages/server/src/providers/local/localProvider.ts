import { text } from '@stagi/contract/text.ts';
import type Dockerode from 'dockerode';
import type { Logger } from 'pino';
import { type Machine, type Provider, ProviderError, type Readiness, type StartRequest } from '../provider.ts';
import { callDocker, explainDockerUnavailable, fallbackOnStatus, statusCode } from './docker.ts';
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
import { availableGb, localOffers, type Size, sizeOf } from './offers.ts';
import { createOperations, stateDuring } from './operations.ts';
import { createPrivilegeSearch, type Privileges } from './privileges.ts';
import { requireLocalCloudAllowed } from './requireAllowed.ts';
import { tar } from './tar.ts';

export interface LocalProvider extends Provider {
  /**
   * This machine's address in the network of its rented machines; `null` while there is none. Never throws. It also
   * starts the preparation that `readiness` reports, so that it is done before somebody rents.
   */
  gateway(): Promise<string | null>;
  /** Removes the network; fails while a machine is connected to it. */
  removeNetwork(): Promise<void>;
  /** Ends background work. Machines stay. */
  close(): Promise<void>;
}

export interface LocalProviderOptions {
  docker: Dockerode;
  /** Distinguishes the machines of platforms that share one Docker Engine. */
  environment: string;
  log: Logger;
  dataDir: string;
  originIsLoopback: boolean;
  /** Whether the operator has enabled the local cloud. */
  allowed: boolean;
}

/** Docker inside the machine gives its containers 8 s of these. */
const stopSeconds = 15;

/** The embedded cloud: machines are system containers of this machine's Docker Engine. A machine's ref is its name. */
export function createLocalProvider(options: LocalProviderOptions): LocalProvider {
  requireLocalCloudAllowed(options);
  const { docker, environment, log } = options;
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(environment)) throw new Error(`Not a name for an environment: ${environment}`);
  const image = createMachineImage(options);
  const privileges = createPrivilegeSearch(docker, log);
  const operations = createOperations(log);
  const serialize = createQueue();

  async function readiness(): Promise<Readiness> {
    try {
      const trouble = await explainDockerUnavailable(docker);
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
    if (!(await inspectMachine(docker, name))) await serialize(() => create(request, size, set));
    const made = await ownContainer(name);
    if (made.Config.Labels[label.token] !== request.token) {
      throw new ProviderError('permanent', `${name} is the name of a machine made by another order`);
    }
    if (made.State.Status === 'created') {
      const userData = tar([{ path: 'user-data', mode: 0o700, content: request.userData }]);
      const container = docker.getContainer(name);
      await callDocker('possible', () => container.putArchive(userData, { path: '/var/lib/stagi' }));
      await startContainer(name);
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
      await callDocker('possible', () => docker.createContainer(container));
    } catch (error) {
      // It exists now: the caller adopts it.
      if (statusCode(error) !== 409) throw error;
    }
  }

  async function getMachine(name: string): Promise<Machine | null> {
    const machine = await find(name);
    const operation = operations.of(name);
    return machine && operation ? { ...machine, state: stateDuring[operation] } : machine;
  }

  async function find(name: string): Promise<Machine | null> {
    const info = await inspectMachine(docker, name);
    if (info) return isOwn(info.Config.Labels) ? presentContainer(info, networkName(environment)) : null;
    const labels = await diskLabels(docker, name);
    return labels && isOwn(labels) ? presentLeftDisk(name, labels) : null;
  }

  async function list(): Promise<Machine[]> {
    const filters = { label: [`${label.environment}=${environment}`] };
    const containers = await callDocker('none', () => docker.listContainers({ all: true, filters }));
    const { Volumes } = await callDocker('none', () => docker.listVolumes({ filters }));
    const names = new Set([
      ...containers.map(({ Names }) => Names[0]!.slice(1)),
      ...(Volumes ?? []).map(({ Name }) => machineOfDisk(Name)),
    ]);
    const machines = await Promise.all([...names].map(getMachine));
    return machines.filter((machine) => machine !== null);
  }

  async function stop(ref: string): Promise<void> {
    if (!isUp(await ownContainer(ref))) return;
    await operations.run(ref, 'stop', () =>
      ignoreStatuses([304, 404], () => docker.getContainer(ref).stop({ t: stopSeconds })),
    );
  }

  async function resume(ref: string): Promise<void> {
    if (operations.of(ref)) throw new ProviderError('retryable', `${ref} is not stopped yet`);
    const info = await ownContainer(ref);
    if (isUp(info)) return;
    await serialize(async () => {
      await requireMemory(Number(info.Config.Labels[label.memory]));
      await startContainer(ref);
    });
  }

  async function reboot(ref: string): Promise<void> {
    if (!isUp(await ownContainer(ref))) throw new ProviderError('permanent', `${ref} is not running`);
    await operations.run(ref, 'reboot', () =>
      ignoreStatuses([404], () => docker.getContainer(ref).restart({ t: stopSeconds })),
    );
  }

  async function terminate(ref: string): Promise<void> {
    if (!(await find(ref))) return;
    await operations.run(ref, 'terminate', async () => {
      const container = docker.getContainer(ref);
      // 409: another removal is in progress.
      await ignoreStatuses([404, 409], () => container.remove({ force: true, v: true }));
      await ignoreStatuses([404], () => container.wait({ condition: 'removed' }));
      await ignoreStatuses([404], () => docker.getVolume(diskOf(ref)).remove());
    });
  }

  async function startContainer(name: string): Promise<void> {
    await fallbackOnStatus(304, undefined, () => callDocker('possible', () => docker.getContainer(name).start()));
  }

  async function requireMemory(ramGb: number): Promise<void> {
    if (availableGb(await readHost(docker)) >= ramGb) return;
    throw new ProviderError('noCapacity', 'This machine has not enough memory left');
  }

  async function ownContainer(ref: string): Promise<ContainerInfo> {
    const info = await inspectMachine(docker, ref);
    if (!info || !isOwn(info.Config.Labels)) throw new ProviderError('permanent', `There is no machine ${ref}`);
    return info;
  }

  function isOwn(labels: Record<string, string>): boolean {
    return labels[label.environment] === environment;
  }

  return {
    name: 'local',
    title: text('This machine'),
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
    getMachine: getMachine,
    list,
    stop,
    resume,
    reboot,
    terminate,
    async gateway() {
      if (await explainDockerUnavailable(docker)) return null;
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

async function ignoreStatuses(statuses: number[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!statuses.includes(statusCode(error) ?? 0)) throw error;
  }
}

/** Runs work in sequence, so that two starts cannot reserve the same memory. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}
