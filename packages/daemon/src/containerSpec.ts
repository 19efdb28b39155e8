import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import type Docker from 'dockerode';
import type { LocalPolicy } from './policy.ts';

/** Marks what is ours; what bears none of them is never touched. */
export const LABELS = { node: 'stagi.node', id: 'stagi.id', gen: 'stagi.gen' } as const;
export const STOP_SECONDS = 10;

const CAPABILITIES = ['CHOWN', 'SETUID', 'SETGID', 'DAC_OVERRIDE', 'FOWNER', 'NET_BIND_SERVICE'];
/** Enough for data loaders with hundreds of workers, too little to starve the machine of process numbers. */
const PIDS_LIMIT = 8192;
/** Docker's own 64 MB are too few for training with several data loaders. */
const SHARED_MEMORY_BYTES = 1024 ** 3;

export function containerName(slug: string): string {
  return `stagi-${slug}`;
}

/**
 * What Docker is told, built from nothing but the fields of our own: no flag, name or option of a user's reaches it
 * unnamed. Pure.
 */
export function containerOptions(
  target: DesiredContainer,
  node: string,
  policy: LocalPolicy,
): Docker.ContainerCreateOptions {
  const { spec } = target;
  return {
    name: containerName(target.slug),
    Image: spec.image,
    ...(spec.command ? { Cmd: spec.command } : {}),
    Env: spec.env.map(({ name, value }) => `${name}=${value}`),
    Hostname: target.slug,
    Labels: { [LABELS.node]: node, [LABELS.id]: String(target.id), [LABELS.gen]: String(target.gen) },
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    StopTimeout: STOP_SECONDS,
    ExposedPorts: Object.fromEntries(spec.ports.map((port) => [`${port.container}/tcp`, {}])),
    HostConfig: hostConfig(spec, policy),
  };
}

function hostConfig(spec: DesiredContainer['spec'], policy: LocalPolicy): Docker.HostConfig {
  return {
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: CAPABILITIES,
    SecurityOpt: ['no-new-privileges:true'],
    NetworkMode: 'bridge',
    IpcMode: 'private',
    PidsLimit: PIDS_LIMIT,
    NanoCpus: spec.nanoCpus,
    // Equal limits: what does not fit into memory must not fill the machine's swap.
    ...(spec.memoryBytes === null ? {} : { Memory: spec.memoryBytes, MemorySwap: spec.memoryBytes }),
    ShmSize: SHARED_MEMORY_BYTES,
    RestartPolicy: { Name: spec.restartPolicy },
    LogConfig: { Type: 'json-file', Config: { 'max-size': '50m', 'max-file': '3' } },
    PortBindings: portBindings(spec.ports, policy.portAddress),
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

function portBindings(ports: DesiredContainer['spec']['ports'], address: string): Docker.PortMap {
  const bindings: Docker.PortMap = {};
  for (const { host, container } of ports) {
    const key = `${container}/tcp`;
    bindings[key] = [...(bindings[key] ?? []), { HostIp: address, HostPort: String(host) }];
  }
  return bindings;
}
