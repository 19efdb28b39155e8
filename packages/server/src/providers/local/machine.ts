import type Dockerode from 'dockerode';
import { type Machine, ProviderError, type StartRequest } from '../provider.ts';
import { callDocker, fallbackOnStatus } from './docker.ts';
import type { Size } from './offers.ts';
import type { Privileges } from './privileges.ts';
import { imageTag, initPath } from './recipe.ts';

export type ContainerInfo = Dockerode.ContainerInspectInfo;

export const label = {
  environment: 'cloud.stagi.environment',
  memory: 'cloud.stagi.memory-gb',
  createdAt: 'cloud.stagi.created-at',
  token: 'cloud.stagi.token',
  tag: 'cloud.stagi.tag.',
};

const gb = 1024 ** 3;

/** The labels of its container and its volume. */
export function machineLabels(environment: string, request: StartRequest, size: Size): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(request.tags).map(([key, value]) => [label.tag + key, value])),
    [label.environment]: environment,
    [label.memory]: String(size.ramGb),
    [label.createdAt]: new Date().toISOString(),
    [label.token]: request.token,
  };
}

export function containerOptions(machine: {
  name: string;
  size: Size;
  privileges: Privileges;
  network: string;
  labels: Record<string, string>;
  nameServers: string[];
}): Dockerode.ContainerCreateOptions {
  const { name, size, labels } = machine;
  return {
    name,
    Hostname: name.slice(0, 63),
    Image: imageTag,
    Entrypoint: [initPath],
    StopSignal: 'SIGTERM',
    Labels: labels,
    Env: [`STAGI_NAME_SERVERS=${machine.nameServers.join(' ')}`],
    HostConfig: {
      ...machine.privileges.hostConfig,
      NetworkMode: machine.network,
      NanoCpus: size.cores * 1e9,
      Memory: size.ramGb * gb,
      MemorySwap: size.ramGb * gb,
      PidsLimit: 16_384,
      ShmSize: (size.ramGb * gb) / 2,
      // Like a machine of a real cloud, it starts with its host unless it was stopped.
      RestartPolicy: { Name: 'unless-stopped' },
      // Sockets and pid files must not outlive a boot.
      Tmpfs: { '/run': 'rw,nosuid,nodev,exec,mode=755,size=67108864' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
      Mounts: [
        {
          Type: 'volume',
          Source: diskOf(name),
          Target: '/var/lib/docker',
          VolumeOptions: { NoCopy: true, Labels: labels, DriverConfig: { Name: 'local', Options: {} } },
        },
      ],
    },
  };
}

/** The volume of the Docker inside the machine. */
export function diskOf(name: string): string {
  return `${name}-docker`;
}

export function machineOfDisk(volume: string): string {
  return volume.replace(/-docker$/, '');
}

export async function inspectMachine(docker: Dockerode, name: string): Promise<ContainerInfo | null> {
  requireName(name);
  return fallbackOnStatus(404, null, () => callDocker('none', () => docker.getContainer(name).inspect()));
}

export async function diskLabels(docker: Dockerode, name: string): Promise<Record<string, string> | null> {
  requireName(name);
  const volume = await fallbackOnStatus(404, null, () =>
    callDocker('none', () => docker.getVolume(diskOf(name)).inspect()),
  );
  return volume ? (volume.Labels ?? {}) : null;
}

export function presentContainer(info: ContainerInfo, network: string): Machine {
  return {
    ...presentLabels(info.Name.slice(1), info.Config.Labels),
    state: stateOf(info),
    ip: info.NetworkSettings.Networks[network]?.IPAddress || null,
    detail: info.State.Error || null,
  };
}

/** A machine of which only the volume is left: during a termination, or after a crash within one. */
export function presentLeftDisk(name: string, labels: Record<string, string>): Machine {
  return { ...presentLabels(name, labels), state: 'terminating', ip: null, detail: null };
}

export function isUp({ State }: ContainerInfo): boolean {
  return State.Running || State.Restarting;
}

function presentLabels(
  name: string,
  labels: Record<string, string>,
): Pick<Machine, 'ref' | 'name' | 'tags' | 'createdAt'> {
  const tags = Object.entries(labels)
    .filter(([key]) => key.startsWith(label.tag))
    .map(([key, value]) => [key.slice(label.tag.length), value]);
  return { ref: name, name, tags: Object.fromEntries(tags), createdAt: new Date(labels[label.createdAt] ?? 0) };
}

function stateOf({ State }: ContainerInfo): Machine['state'] {
  switch (State.Status) {
    case 'running':
      return 'running';
    case 'created':
      return State.Error ? 'error' : 'creating';
    case 'restarting':
      return 'creating';
    case 'removing':
      return 'terminating';
    case 'exited':
      return State.Error ? 'error' : 'stopped';
    default:
      return 'error';
  }
}

/** A name becomes part of a path of Docker's API. */
function requireName(name: string): void {
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,120}$/.test(name)) throw new ProviderError('permanent', `Not a name: ${name}`);
}
