import type { DesiredContainer } from './daemon.ts';
import { HOST_PORT_MAX, HOST_PORT_MIN } from './fields.ts';

/** What a server allows containers; the daemon's own file wins over what the platform believes. */
export interface ContainerPolicy {
  /** Host directories below which volumes may lie. */
  volumeRoots: readonly string[];
  /** Highest numbers; null: no limit but the machine's. */
  maxCpus: number | null;
  maxMemoryBytes: number | null;
  /** GPU indexes that may be given out; null: all. */
  gpuIds: readonly number[] | null;
  /** Image references must start with one of these; null: any. */
  imagePrefixes: readonly string[] | null;
}

/** Host directories that no policy can open. */
const DENIED_ROOTS = [
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/var/run',
  '/boot',
  '/root',
  '/var/lib/docker',
  '/var/lib/containerd',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/var/lib/stagi',
  '/etc/stagi',
  '/usr/local/lib/stagi',
];

export interface Refusal {
  /** The field of the create form it belongs to. */
  field: string;
  message: string;
}

/**
 * Why a container may not be made, empty when it may. One pure rule for the API, the reconcile
 * loop and the daemon; what needs the disk (symbolic links) is checked by the daemon besides.
 */
export function refusals(spec: DesiredContainer['spec'], policy: ContainerPolicy): Refusal[] {
  const found: Refusal[] = [];
  for (const [index, port] of spec.ports.entries()) {
    if (!Number.isInteger(port.host) || port.host < HOST_PORT_MIN || port.host > HOST_PORT_MAX)
      found.push({ field: `portMappings.${index}.host`, message: 'Port must be between 1000 and 9999' });
    if (!Number.isInteger(port.container) || port.container < 1 || port.container > 65_535)
      found.push({ field: `portMappings.${index}.container`, message: 'Port must be between 1 and 65535' });
  }
  for (const [index, directory] of spec.directories.entries()) {
    const reason = refusedDirectory(directory.host, policy.volumeRoots);
    if (reason) found.push({ field: `directoryMappings.${index}.host`, message: reason });
    if (!directory.container.startsWith('/') || normalize(directory.container) === '/')
      found.push({
        field: `directoryMappings.${index}.container`,
        message: 'The root directory of the container cannot be replaced',
      });
  }
  if (policy.maxCpus !== null && spec.nanoCpus > policy.maxCpus * 1e9)
    found.push({ field: 'cpus', message: `This server allows at most ${policy.maxCpus} CPUs` });
  if (policy.maxMemoryBytes !== null && (spec.memoryBytes ?? 0) > policy.maxMemoryBytes)
    found.push({
      field: 'memoryGb',
      message: `This server allows at most ${(policy.maxMemoryBytes / 2 ** 30).toFixed(1)} GB`,
    });
  for (const gpu of spec.gpuIds) {
    if (policy.gpuIds !== null && !policy.gpuIds.includes(gpu))
      found.push({ field: 'gpuIds', message: `This server has no free GPU ${gpu}` });
  }
  if (policy.imagePrefixes !== null && !policy.imagePrefixes.some((prefix) => spec.image.startsWith(prefix)))
    found.push({ field: 'dockerImage', message: 'This server does not allow this image' });
  return found;
}

function refusedDirectory(path: string, roots: readonly string[]): string | null {
  if (!path.startsWith('/') || path.includes('\0') || path.includes(':') || path.split('/').includes('..'))
    return 'Volume path must start with /';
  const clean = normalize(path);
  if (clean === '/') return 'The root directory of the server cannot be mounted';
  // A directory above a denied one would bring it along.
  const denied = DENIED_ROOTS.some((root) => within(clean, root) || within(root, clean));
  if (denied || clean.endsWith('docker.sock')) return 'This directory of the server cannot be mounted';
  if (!roots.some((root) => within(clean, normalize(root))))
    return `Volumes of this server must lie below ${roots.join(' or ')}`;
  return null;
}

function within(path: string, root: string): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`);
}

function normalize(path: string): string {
  return `/${path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`;
}

/** Where volumes of a rented server lie: a user's `/data` is this folder's `/data`. */
export const RENTED_VOLUME_ROOT = '/data';
