import { type CapabilitySet, DockerImage, EnvVariable, HealthCheck, RunAs } from './containerFields.ts';
import type { DesiredContainer, DesiredTask } from './desiredState.ts';
import { HOST_PORT_MAX, HOST_PORT_MIN, Slug } from './fields.ts';
import { type HostConfig, hostConfigOf } from './hostConfig.ts';
import { text } from './text.ts';

/** What a server allows to containers; the daemon's own file overrides what the platform assumes. */
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
  /** The most that root in a container may do. */
  capabilities: CapabilitySet;
  /** The address that public ports of containers are bound to. */
  portAddress: string;
}

/** Where volumes of a rented server lie: a user's `/data` is this folder's `/data`. */
export const RENTED_VOLUME_ROOT = '/data';
/** Where volumes of an own server lie, unless its owner allows more. */
export const OWN_VOLUME_ROOT = '/srv/stagi';
export const ANY_ADDRESS = '0.0.0.0';

/** Host directories that no policy can allow. */
const DENIED_ROOTS = [
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/var/run',
  '/boot',
  '/efi',
  '/root',
  '/var/lib/docker',
  '/var/lib/containerd',
  '/var/lib/containers',
  '/var/lib/kubelet',
  '/var/spool',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/snap',
  '/var/lib/stagi',
  '/etc/stagi',
  '/usr/local/lib/stagi',
];

/** Below which directories volumes of a server may lie. An earlier daemon does not say, and allows any. */
export function volumeRootsOf(server: {
  kind: 'rented' | 'self-hosted';
  facts: { volumeRoots?: string[] | undefined } | null;
}): readonly string[] {
  return server.kind === 'rented' ? [RENTED_VOLUME_ROOT] : (server.facts?.volumeRoots ?? ['/']);
}

/** Nearly every file of the server can be mounted. */
export function areRootsOpen(roots: readonly string[]): boolean {
  return roots.some((root) => normalize(root) === '/');
}

/** A directory below the usual root of another kind of server, below the first root of this one. */
export function directoryBelow(roots: readonly string[], path: string): string {
  const clean = normalize(path);
  const [first] = roots;
  const usual = [RENTED_VOLUME_ROOT, OWN_VOLUME_ROOT].find((root) => isWithin(clean, root));
  if (!first || !usual || roots.some((root) => isWithin(clean, normalize(root)))) return path;
  return normalize(first + clean.slice(usual.length));
}

/** Never mounted over inside a container: CVE-2025-31133 and similar escapes replaced what masks them. */
const DENIED_TARGETS = ['/proc', '/sys', '/dev', '/run/docker.sock', '/var/run/docker.sock'];

const MAX = { ports: 100, directories: 50, env: 200, words: 1000, path: 400, cpus: 1024, gpu: 63 };
/** Variables that the platform adds to those of a person in the run of a task. */
const TASK_VARIABLES = 10;
/** Docker's own minimum is 6 MB; it takes 0 or less for "no limit". */
const MIN_MEMORY_BYTES = 6 * 2 ** 20;
const MIN_NANO_CPUS = 1e7;
const MIN_SHARED_BYTES = 2 ** 20;

export interface Refusal {
  /** The field of the create form it belongs to. */
  field: string;
  message: string;
}

export type Admission =
  | { refusals: [Refusal, ...Refusal[]]; hostConfig: null }
  | { refusals: []; hostConfig: HostConfig };

/** What the policy looks at. */
export type PolicyTarget = Pick<DesiredContainer, 'slug' | 'spec'> & { task?: TaskDirectories };
type TaskDirectories = Pick<DesiredTask, 'codePath' | 'inputPath' | 'outputPath'>;

/**
 * Whether a container may be created, and if so all the rights that Docker grants it. One pure function for the API and
 * the daemon, applied before each creation and each start. The daemon also checks what needs the disk (symbolic links).
 */
export function checkContainer(target: PolicyTarget, policy: ContainerPolicy): Admission {
  const [first, ...more] = refusals(target, policy);
  if (first) return { refusals: [first, ...more], hostConfig: null };
  return { refusals: [], hostConfig: hostConfigOf(target.spec, policy.portAddress) };
}

function refusals({ slug, spec, task }: PolicyTarget, policy: ContainerPolicy): Refusal[] {
  return [
    ...(Slug.safeParse(slug).data === slug
      ? []
      : [
          {
            field: 'slug',
            message: text('Unique ID may contain only letters, digits and single hyphens between them'),
          },
        ]),
    ...refusedImage(spec.image, policy.imagePrefixes),
    ...refusedCommandAndEnv(spec, task ? MAX.env + TASK_VARIABLES : MAX.env),
    ...refusedRights(spec, policy),
    ...refusedSize(spec, policy),
    ...refusedSharedMemory(spec, policy),
    ...refusedHealthCheck(spec),
    ...refusedGpus(spec.gpuIds, policy.gpuIds),
    ...refusedPorts(spec.ports),
    ...refusedDirectories(spec.directories, policy.volumeRoots),
    ...(task ? refusedTask(spec, task) : []),
  ];
}

function refusedImage(image: string, prefixes: ContainerPolicy['imagePrefixes']): Refusal[] {
  const field = 'dockerImage';
  if (DockerImage.safeParse(image).data !== image)
    return [{ field, message: text('Enter an image like name:tag or registry/name:tag') }];
  const isAllowed = prefixes === null || prefixes.some((prefix) => image.startsWith(prefix));
  return isAllowed ? [] : [{ field, message: text('This server does not allow this image') }];
}

/** Texts that are passed on as they are: only plain values. */
function refusedCommandAndEnv({ command, env }: DesiredContainer['spec'], maxEnv: number): Refusal[] {
  const found: Refusal[] = [];
  if (command && (command.length === 0 || command.length > MAX.words || command.some((word) => word.includes('\0'))))
    found.push({ field: 'command', message: text('The command must not contain a NUL') });
  if (env.length > maxEnv) found.push({ field: 'env', message: text('At most 200 variables') });
  const names = env.map(({ name }) => name);
  for (const [index, variable] of env.entries()) {
    const { name, value } = variable;
    if (EnvVariable.safeParse({ name, value }).data?.name !== name)
      found.push({ field: `env.${index}.name`, message: text('Name must not contain "=" or a NUL') });
    else if (names.indexOf(variable.name) < index)
      found.push({ field: `env.${index}.name`, message: text('This variable is listed twice') });
  }
  return found;
}

function refusedRights(
  { entrypoint, user, capabilities }: DesiredContainer['spec'],
  policy: ContainerPolicy,
): Refusal[] {
  const found: Refusal[] = [];
  if (entrypoint && (entrypoint.length > MAX.words || entrypoint.some((word) => word.includes('\0'))))
    found.push({ field: 'entrypoint', message: text('The command must not contain a NUL') });
  if (user !== undefined && RunAs.safeParse(user).data !== user)
    found.push({ field: 'user', message: text('Enter a user like 1000, 1000:1000 or name') });
  if (capabilities === 'docker' && policy.capabilities !== 'docker')
    found.push({ field: 'capabilities', message: text('This server allows only the hardened set') });
  return found;
}

function refusedSize({ nanoCpus, memoryBytes }: DesiredContainer['spec'], policy: ContainerPolicy): Refusal[] {
  const found: Refusal[] = [];
  if (!isIntegerBetween(nanoCpus, MIN_NANO_CPUS, MAX.cpus * 1e9))
    found.push({ field: 'cpus', message: text('CPU must be at least 0.1') });
  else if (policy.maxCpus !== null && nanoCpus > policy.maxCpus * 1e9)
    found.push({ field: 'cpus', message: text('CPUs: this server allows at most {{cpus}}', { cpus: policy.maxCpus }) });
  if (memoryBytes !== null && !isIntegerBetween(memoryBytes, MIN_MEMORY_BYTES, Number.MAX_SAFE_INTEGER))
    found.push({ field: 'memoryGb', message: text('Memory must be at least 0.05 GB') });
  else if (policy.maxMemoryBytes !== null && (memoryBytes ?? 0) > policy.maxMemoryBytes)
    found.push({
      field: 'memoryGb',
      message: text('This server allows at most {{gb}} GB', { gb: (policy.maxMemoryBytes / 2 ** 30).toFixed(1) }),
    });
  return found;
}

/** It counts as memory of the container, but only as far as it is used. */
function refusedSharedMemory({ shmBytes, memoryBytes }: DesiredContainer['spec'], policy: ContainerPolicy): Refusal[] {
  if (shmBytes === undefined) return [];
  const field = 'shmMb';
  if (!isIntegerBetween(shmBytes, MIN_SHARED_BYTES, Number.MAX_SAFE_INTEGER))
    return [{ field, message: text('Shared memory must be at least 1 MB') }];
  const most = memoryBytes ?? policy.maxMemoryBytes;
  return most !== null && shmBytes > most
    ? [{ field, message: text('Shared memory must not be larger than the memory') }]
    : [];
}

/** Docker runs the command in the container, with no more rights than its own. */
function refusedHealthCheck({ healthCheck }: DesiredContainer['spec']): Refusal[] {
  const issue = healthCheck && HealthCheck.safeParse(healthCheck).error?.issues[0];
  return issue ? [{ field: ['healthCheck', ...issue.path].join('.'), message: issue.message }] : [];
}

function refusedGpus(wanted: readonly number[], allowed: ContainerPolicy['gpuIds']): Refusal[] {
  const isRefused = (gpu: number, index: number) =>
    !isIntegerBetween(gpu, 0, MAX.gpu) || wanted.indexOf(gpu) < index || (allowed !== null && !allowed.includes(gpu));
  return wanted
    .filter(isRefused)
    .map((gpu) => ({ field: 'gpuIds', message: text('This server has no free GPU {{gpu}}', { gpu }) }));
}

function refusedPorts(ports: DesiredContainer['spec']['ports']): Refusal[] {
  const found: Refusal[] = [];
  if (ports.length > MAX.ports) found.push({ field: 'portMappings', message: text('At most 100 ports') });
  const hosts = ports.map(({ host }) => host);
  for (const [index, { host, container }] of ports.entries()) {
    if (!isIntegerBetween(host, HOST_PORT_MIN, HOST_PORT_MAX))
      found.push({ field: `portMappings.${index}.host`, message: text('Port must be between 1000 and 9999') });
    else if (hosts.indexOf(host) < index)
      found.push({ field: `portMappings.${index}.host`, message: text('This host port is listed twice') });
    if (!isIntegerBetween(container, 1, 65_535))
      found.push({ field: `portMappings.${index}.container`, message: text('Port must be between 1 and 65535') });
  }
  return found;
}

function refusedDirectories(directories: DesiredContainer['spec']['directories'], roots: readonly string[]): Refusal[] {
  const found: Refusal[] = [];
  if (directories.length > MAX.directories)
    found.push({ field: 'directoryMappings', message: text('At most 50 volumes') });
  const targets = directories.map(({ container }) => normalize(container));
  for (const [index, { host, container }] of directories.entries()) {
    const source = refusedSource(host, roots);
    if (source) found.push({ field: `directoryMappings.${index}.host`, message: source });
    const target = refusedTarget(container) ?? (targets.indexOf(targets[index]!) < index ? LISTED_TWICE : null);
    if (target) found.push({ field: `directoryMappings.${index}.container`, message: target });
  }
  return found;
}

const LISTED_TWICE = text('This container directory is listed twice');

function refusedSource(path: string, roots: readonly string[]): string | null {
  if (!isPlainPath(path)) return text('Volume path must start with /');
  if (path.includes(':')) return text('Volume path must not contain ":"');
  const clean = normalize(path);
  if (clean === '/') return text('The root directory of the server cannot be mounted');
  // Mounting a parent of a denied directory would expose it.
  const denied = DENIED_ROOTS.some((root) => isWithin(clean, root) || isWithin(root, clean));
  if (denied || clean.endsWith('docker.sock')) return text('This directory of the server cannot be mounted');
  if (roots.length === 0) return text('The policy of this server allows no volumes');
  if (!roots.some((root) => isWithin(clean, normalize(root))))
    return text('Volumes of this server must lie below {{roots}}', { roots: roots.join(' or ') });
  return null;
}

function refusedTarget(path: string): string | null {
  if (!isPlainPath(path) || normalize(path) === '/')
    return text('The root directory of the container cannot be replaced');
  const denied = DENIED_TARGETS.some((target) => isWithin(normalize(path), target));
  return denied ? text('This directory of the container cannot be replaced') : null;
}

function refusedTask(spec: DesiredContainer['spec'], task: TaskDirectories): Refusal[] {
  const found: Refusal[] = [];
  if (spec.command?.length !== 1) found.push({ field: 'command', message: text('Launch command is required') });
  if (spec.ports.length > 0 || spec.directories.length > 0 || spec.restartPolicy !== 'no' || spec.healthCheck)
    found.push({
      field: 'command',
      message: text('A task has no ports, no volumes, no restart policy and no health check'),
    });
  const root = normalize(task.codePath) === '/' ? text('The root directory cannot be used for cloning') : null;
  const messages = {
    codePath: root ?? refusedTarget(task.codePath),
    inputPath: refusedTarget(task.inputPath),
    outputPath: refusedTarget(task.outputPath) ?? refusedOutput(task),
  };
  for (const [field, message] of Object.entries(messages)) if (message) found.push({ field, message });
  return found;
}

/** Everything in the output directory is uploaded. It may lie in that of the code or of the input. */
function refusedOutput({ codePath, inputPath, outputPath }: TaskDirectories): string | null {
  const holds = [codePath, inputPath].some((path) => isWithin(normalize(path), normalize(outputPath)));
  return holds ? text('Output path must not hold the code or the input') : null;
}

function isPlainPath(path: string): boolean {
  const hasOddities = [...path].some((character) => character < ' ' || character === '\x7f');
  return path.startsWith('/') && path.length <= MAX.path && !hasOddities && !path.split('/').includes('..');
}

function isIntegerBetween(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function isWithin(path: string, root: string): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`);
}

function normalize(path: string): string {
  return `/${path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`;
}
