import type { DesiredContainer } from '../desiredState.ts';

type Spec = DesiredContainer['spec'];

/** A container that must never be made. */
export interface Hostile {
  name: string;
  slug?: string;
  /** As it would be in a signed desired state. */
  spec: Partial<Spec>;
  /** The same as a request to the API, where it differs. */
  asked?: Record<string, unknown>;
}

const mounts = (...hosts: string[]): Hostile[] =>
  hosts.map((host) => ({ name: `mounts ${JSON.stringify(host)}`, spec: { directories: [{ host, container: '/x' }] } }));
const covers = (...targets: string[]): Hostile[] =>
  targets.map((container) => ({
    name: `covers ${JSON.stringify(container)}`,
    spec: { directories: [{ host: '/data/x', container }] },
  }));
const opens = (...hosts: number[]): Hostile[] =>
  hosts.map((host) => ({ name: `opens port ${host}`, spec: { ports: [{ host, container: 80 }] } }));
const runs = (...images: string[]): Hostile[] =>
  images.map((image) => ({ name: `runs ${JSON.stringify(image)}`, spec: { image } }));
const isCalled = (...slugs: string[]): Hostile[] =>
  slugs.map((slug) => ({ name: `is called ${JSON.stringify(slug)}`, slug, spec: {} }));
const sets = (...names: string[]): Hostile[] =>
  names.map((name) => ({ name: `sets ${JSON.stringify(name)}`, spec: { env: [{ name, value: 'x' }] } }));

const CHECK = { command: 'true', intervalSeconds: 30, timeoutSeconds: 30, retries: 3, startPeriodSeconds: 0 };
const checks = (...changes: Partial<typeof CHECK>[]): Hostile[] =>
  changes.map((change) => {
    const healthCheck = { ...CHECK, ...change };
    return {
      name: `is checked with ${JSON.stringify(change).slice(0, 60)}`,
      spec: { healthCheck },
      asked: { healthCheck },
    };
  });

export const HOSTILE: Hostile[] = [
  ...mounts('/', '//', '/./', '/etc', '/etc/', '//etc', '/etc/./ssh', '/etc/shadow', '/proc', '/proc/1/root', '/sys'),
  ...mounts(
    '/sys/fs/cgroup',
    '/dev',
    '/dev/mem',
    '/run',
    '/run/docker.sock',
    '/var/run/docker.sock',
    '/data/docker.sock',
  ),
  ...mounts('/boot', '/root', '/root/.ssh', '/var', '/var/lib', '/var/lib/docker', '/var/lib/docker/overlay2'),
  ...mounts('/var/lib/containerd', '/var/lib/kubelet', '/var/lib/stagi', '/etc/stagi', '/usr/local/lib/stagi'),
  ...mounts('/var/spool/cron', '/usr', '/usr/bin', '/bin', '/sbin', '/lib', '/lib64', '/data/../etc', '/data/..'),
  ...mounts('data', '', './data', '/data:/etc', '/data\0/etc', '/data\n/etc', `/data/${'x'.repeat(400)}`),
  ...covers('/', '/./', '/proc', '/proc/self', '/sys', '/dev', '/var/run/docker.sock', 'x', '', '/x/../..'),
  ...opens(0, -1, 22, 80, 443, 999, 10_000, 65_536, 1.5),
  ...runs(
    '',
    '--privileged',
    '-v',
    'a b',
    'UPPER:1',
    'x;reboot',
    '$(id)',
    '../x',
    'x@sha256:12',
    `${'a/'.repeat(201)}a`,
  ),
  ...isCalled('', '..', '../x', 'a/b', 'a b', '-rm', 'A', 'x'.repeat(41), '$(id)', 'a\nb'),
  ...sets('', 'A=B', '=', 'A\0', '\ud800', 'x'.repeat(201)),
  { name: 'has a NUL in a value', spec: { env: [{ name: 'A', value: 'a\0b' }] } },
  { name: 'has a NUL in its command', spec: { command: ['sh', 'a\0b'] }, asked: { command: 'sh "a\0b"' } },
  {
    name: 'lists a variable twice',
    spec: {
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
  },
  { name: 'takes all processors by asking for none', spec: { nanoCpus: 0 }, asked: { cpus: 0 } },
  { name: 'takes processors below nothing', spec: { nanoCpus: -1 }, asked: { cpus: -1 } },
  { name: 'takes more processors than there are', spec: { nanoCpus: 2e12 }, asked: { cpus: 2000 } },
  { name: 'takes all memory by asking for none', spec: { memoryBytes: 0 }, asked: { memoryGb: 0 } },
  { name: 'takes memory below nothing', spec: { memoryBytes: -1 }, asked: { memoryGb: -1 } },
  { name: 'takes all memory as shared memory by asking for none', spec: { shmBytes: 0 }, asked: { shmMb: 0 } },
  { name: 'takes shared memory below nothing', spec: { shmBytes: -1 }, asked: { shmMb: -1 } },
  { name: 'takes half a byte of shared memory', spec: { shmBytes: 2 ** 20 + 0.5 }, asked: { shmMb: 1.5 } },
  {
    name: 'takes more shared memory than memory',
    spec: { memoryBytes: 2 ** 30, shmBytes: 2 ** 31 },
    asked: { memoryGb: 1, shmMb: 2048 },
  },
  ...checks(
    { command: '' },
    { command: 'true\0' },
    { command: 'x'.repeat(2001) },
    { intervalSeconds: 0 },
    { intervalSeconds: -1 },
    { intervalSeconds: 0.5 },
    { intervalSeconds: 1e9 },
    { timeoutSeconds: 0 },
    { timeoutSeconds: 601 },
    { retries: 0 },
    { retries: 1e6 },
    { startPeriodSeconds: -1 },
    { startPeriodSeconds: 3601 },
  ),
  { name: 'asks for GPU -1', spec: { gpuIds: [-1] } },
  { name: 'asks for GPU 1.5', spec: { gpuIds: [1.5] } },
  { name: 'asks for a GPU twice', spec: { gpuIds: [0, 0] } },
  {
    name: 'opens a port twice',
    spec: {
      ports: [
        { host: 8080, container: 1 },
        { host: 8080, container: 2 },
      ],
    },
  },
  { name: 'opens port 0 inside', spec: { ports: [{ host: 8080, container: 0 }] } },
  {
    name: 'mounts at a place twice',
    spec: {
      directories: [
        { host: '/data/a', container: '/x' },
        { host: '/data/b', container: '/x' },
      ],
    },
  },
];

/** Unknown fields, named as in Docker and elsewhere: refused by the API, and without effect in a signed document. */
export const PRIVILEGES: Record<string, unknown>[] = [
  { privileged: true },
  { Privileged: true },
  { HostConfig: { Privileged: true } },
  { capAdd: ['ALL'] },
  { CapAdd: ['SYS_ADMIN'] },
  { CapabilityAdd: ['ALL'] },
  { devices: [{ PathOnHost: '/dev/mem', PathInContainer: '/dev/mem', CgroupPermissions: 'rwm' }] },
  { networkMode: 'host' },
  { NetworkMode: 'host' },
  { pidMode: 'host' },
  { ipcMode: 'host' },
  { usernsMode: 'host' },
  { cgroupParent: '/' },
  { securityOpt: ['seccomp=unconfined', 'apparmor=unconfined'] },
  { Privileges: { Seccomp: { Mode: 'unconfined' } } },
  { sysctls: { 'kernel.core_pattern': '|/x' } },
  { Binds: ['/:/host'] },
  { Mounts: [{ Type: 'bind', Source: '/', Target: '/host' }] },
  {
    Mounts: [
      {
        Type: 'volume',
        Target: '/host',
        VolumeOptions: { DriverConfig: { Options: { type: 'none', o: 'bind', device: '/' } } },
      },
    ],
  },
  { VolumesFrom: ['stagi-other'] },
  { Runtime: 'privileged' },
  { LogConfig: { Type: 'syslog' } },
  { __proto__: null, constructor: { prototype: { Privileged: true } } },
];
