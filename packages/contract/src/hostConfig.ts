import { type CapabilitySet, DEFAULT_SHM_MB } from './containerFields.ts';
import type { DesiredContainer } from './desiredState.ts';

/** The rights and limits of a container, as the subset of Docker's `HostConfig` (Engine API) that is used. */
export interface HostConfig {
  Privileged: false;
  CapDrop: ['ALL'];
  CapAdd: string[];
  SecurityOpt: ['no-new-privileges:true'];
  NetworkMode: typeof CONTAINER_NETWORK;
  IpcMode: 'private';
  PidsLimit: number;
  NanoCpus: number;
  Memory?: number;
  MemorySwap?: number;
  ShmSize: number;
  RestartPolicy: { Name: DesiredContainer['spec']['restartPolicy'] };
  LogConfig: { Type: 'json-file'; Config: Record<string, string> };
  PortBindings: Record<string, { HostIp: string; HostPort: string }[]>;
  Mounts: { Type: 'bind'; Source: string; Target: string; BindOptions: { Propagation: 'rprivate' } }[];
  DeviceRequests: { Driver: 'nvidia'; DeviceIDs: string[]; Capabilities: string[][] }[];
}

/** Docker's network of all our containers on a server. None reaches another in it. */
export const CONTAINER_NETWORK = 'stagi';
/** `docker`: as Docker gives by default, by name, so that a later Docker gives no more. */
export const CAPABILITIES: Record<CapabilitySet, readonly string[]> = {
  // KILL: the init passes a stop signal on to programs of other users.
  hardened: ['CHOWN', 'SETUID', 'SETGID', 'DAC_OVERRIDE', 'FOWNER', 'NET_BIND_SERVICE', 'KILL'],
  docker: [
    'CHOWN',
    'SETUID',
    'SETGID',
    'DAC_OVERRIDE',
    'FOWNER',
    'NET_BIND_SERVICE',
    'KILL',
    'FSETID',
    'SETFCAP',
    'SETPCAP',
    'SYS_CHROOT',
    'AUDIT_WRITE',
    'MKNOD',
    'NET_RAW',
  ],
};
/** Enough for data loaders with hundreds of workers, too few to exhaust the machine's process ids. */
const PIDS_LIMIT = 8192;
/** The log that Docker buffers while the link is down or slow. */
const LOG_FILES = { 'max-size': '50m', 'max-file': '3' };

/** What private ports are bound to: only the server itself reaches them, and the platform through its daemon. */
export const PRIVATE_ADDRESS = '127.0.0.1';

/** Pure; only the fields of the spec that are named here reach Docker. */
export function hostConfigOf(spec: DesiredContainer['spec'], portAddress: string): HostConfig {
  return {
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: [...CAPABILITIES[spec.capabilities ?? 'hardened']],
    SecurityOpt: ['no-new-privileges:true'],
    NetworkMode: CONTAINER_NETWORK,
    IpcMode: 'private',
    PidsLimit: PIDS_LIMIT,
    NanoCpus: spec.nanoCpus,
    // Equal limits, so that a container cannot use the machine's swap.
    ...(spec.memoryBytes === null ? {} : { Memory: spec.memoryBytes, MemorySwap: spec.memoryBytes }),
    ShmSize: spec.shmBytes ?? DEFAULT_SHM_MB * 2 ** 20,
    RestartPolicy: { Name: spec.restartPolicy },
    LogConfig: { Type: 'json-file', Config: { ...LOG_FILES } },
    PortBindings: portBindings(spec.ports, portAddress),
    Mounts: spec.directories.map((directory) => ({
      Type: 'bind',
      Source: directory.host,
      Target: directory.container,
      BindOptions: { Propagation: 'rprivate' },
    })),
    DeviceRequests:
      spec.gpuIds.length === 0
        ? []
        : [{ Driver: 'nvidia', DeviceIDs: spec.gpuIds.map(String), Capabilities: [['gpu']] }],
  };
}

function portBindings(ports: DesiredContainer['spec']['ports'], publicAddress: string): HostConfig['PortBindings'] {
  const bindings: HostConfig['PortBindings'] = {};
  for (const { host, container, public: isPublic = true } of ports) {
    const address = isPublic ? publicAddress : PRIVATE_ADDRESS;
    const key = `${container}/tcp`;
    bindings[key] = [...(bindings[key] ?? []), { HostIp: address, HostPort: String(host) }];
  }
  return bindings;
}
