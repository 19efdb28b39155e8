import { describe, expect, it } from 'vitest';
import { CreateContainer } from './containerFields.ts';
import type { DesiredContainer } from './desiredState.ts';
import { type ContainerPolicy, checkContainer, directoryBelow } from './policy.ts';
import { HOSTILE, PRIVILEGES } from './testing/hostileSpecs.ts';

const OPEN: ContainerPolicy = {
  volumeRoots: ['/'],
  maxCpus: null,
  maxMemoryBytes: null,
  gpuIds: null,
  imagePrefixes: null,
  capabilities: 'docker',
  portAddress: '0.0.0.0',
};
const RENTED: ContainerPolicy = { ...OPEN, volumeRoots: ['/data'] };
const SPEC: DesiredContainer['spec'] = {
  image: 'busybox',
  command: null,
  env: [],
  nanoCpus: 1e9,
  memoryBytes: null,
  gpuIds: [],
  ports: [],
  directories: [],
  restartPolicy: 'no',
};
const refusals = (spec: DesiredContainer['spec'], policy: ContainerPolicy) =>
  checkContainer({ slug: 'web', spec }, policy).refusals;
const mount = (host: string, container = '/data') => ({ ...SPEC, directories: [{ host, container }] });

describe('container policy', () => {
  it.each([
    '/',
    '//',
    '/./',
    '/etc',
    '/etc/passwd',
    '/proc',
    '/sys/fs',
    '/dev',
    '/run/docker.sock',
    '/var/run/docker.sock',
    '/root',
    '/root/.ssh',
    '/boot',
    '/var/lib/docker',
    '/var/lib/docker/volumes',
    '/usr/bin',
    '/var/lib/stagi',
    '/home/a/docker.sock',
    '/data/../etc',
    'data',
    'C:\\',
    '/a:/b',
    '/a\0b',
  ])('refuses the host directory %j on any server', (path) => {
    expect(refusals(mount(path), OPEN)).toMatchObject([{ field: 'directoryMappings.0.host' }]);
  });

  it.each(['/data', '/data/models', '/data//x/', '/srv/x'])('allows %j on a self-hosted server', (path) => {
    expect(refusals(mount(path), OPEN)).toEqual([]);
  });

  it('binds private ports to loopback, others to the address of the policy', () => {
    const ports = [
      { host: 8080, container: 80, public: false },
      { host: 8081, container: 80, public: true },
      { host: 8082, container: 81 },
    ];
    const policy = { ...OPEN, portAddress: '10.0.0.5' };
    expect(checkContainer({ slug: 'web', spec: { ...SPEC, ports } }, policy).hostConfig?.PortBindings).toEqual({
      '80/tcp': [
        { HostIp: '127.0.0.1', HostPort: '8080' },
        { HostIp: '10.0.0.5', HostPort: '8081' },
      ],
      '81/tcp': [{ HostIp: '10.0.0.5', HostPort: '8082' }],
    });
  });

  it('keeps a rented server’s volumes below its data root', () => {
    expect(refusals(mount('/data/a'), RENTED)).toEqual([]);
    expect(refusals(mount('/database'), RENTED)).toHaveLength(1);
    expect(refusals(mount('/srv'), RENTED)).toHaveLength(1);
  });

  it('puts a directory of another kind of server below the first root of this one', () => {
    expect(directoryBelow(['/srv/stagi'], '/data/models')).toBe('/srv/stagi/models');
    expect(directoryBelow(['/data'], '/srv/stagi/models/')).toBe('/data/models');
    expect(directoryBelow(['/mnt/a', '/data'], '/data/models')).toBe('/data/models');
    expect(directoryBelow(['/'], '/data/models')).toBe('/data/models');
    expect(directoryBelow(['/srv/stagi'], '/home/x')).toBe('/home/x');
    expect(directoryBelow([], '/data/models')).toBe('/data/models');
  });

  it('says that a server allows no volumes', () => {
    expect(refusals(mount('/data/a'), { ...OPEN, volumeRoots: [] })).toMatchObject([
      { field: 'directoryMappings.0.host', message: 'The policy of this server allows no volumes' },
    ]);
  });

  it.each([0, 80, 999, 10_000, 65_536, 1.5, Number.NaN])('refuses host port %d', (host) => {
    expect(refusals({ ...SPEC, ports: [{ host, container: 80 }] }, OPEN)).toMatchObject([
      { field: 'portMappings.0.host' },
    ]);
  });

  it('refuses what the server’s policy file does not allow', () => {
    const strict: ContainerPolicy = {
      ...OPEN,
      maxCpus: 1,
      maxMemoryBytes: 2 ** 30,
      gpuIds: [0],
      imagePrefixes: ['registry.example/'],
    };
    const fields = refusals({ ...SPEC, nanoCpus: 2e9, memoryBytes: 2 ** 31, gpuIds: [0, 3] }, strict).map(
      (refusal) => refusal.field,
    );
    expect(fields).toEqual(['dockerImage', 'cpus', 'memoryGb', 'gpuIds']);
  });
});

describe('the run of a task', () => {
  const PATHS = { codePath: '/workspace', inputPath: '/data/in', outputPath: '/workspace/out' };
  const RUN = { ...SPEC, command: ['python train.py'] };
  const fields = (paths: object, spec: object = {}) =>
    checkContainer({ slug: 'task', spec: { ...RUN, ...spec }, task: { ...PATHS, ...paths } }, OPEN).refusals.map(
      ({ field }) => field,
    );

  it.each([
    {},
    { outputPath: '/out' },
    { outputPath: '/data/in/out' },
    { codePath: '/data', inputPath: '/data' },
    { codePath: '/workspace/', outputPath: '/workspaces' },
    { codePath: '/tmp', inputPath: '/root', outputPath: '/var/run/out' },
  ])('is admitted with %j', (paths) => {
    expect(fields(paths)).toEqual([]);
  });

  it.each(['codePath', 'inputPath', 'outputPath'])('has a plain directory as %s', (field) => {
    const paths = ['/', '//', '/.', '', 'x', './x', '/a/../b', '/a\0b', '/a\nb', '/proc', '/proc/1', '/sys/x', '/dev'];
    for (const path of [...paths, '/dev/shm', '/run/docker.sock', `/${'x'.repeat(400)}`])
      expect(fields({ [field]: path }), path).toContain(field);
  });

  it.each(['/workspace', '/workspace/', '/workspace/.', '/data', '/data/in'])('keeps the output out of %s', (path) => {
    expect(fields({ outputPath: path })).toEqual(['outputPath']);
  });

  it('says why the root directory is refused for the code', () => {
    const task = { ...PATHS, codePath: '/' };
    expect(checkContainer({ slug: 'task', spec: RUN, task }, OPEN).refusals).toEqual([
      { field: 'codePath', message: 'The root directory cannot be used for cloning' },
    ]);
  });

  it('has one line as command, no ports, no volumes and no restart policy', () => {
    expect(fields({}, { command: null })).toEqual(['command']);
    expect(fields({}, { command: ['a', 'b'] })).toEqual(['command']);
    expect(fields({}, { ports: [{ host: 8080, container: 80 }] })).toEqual(['command']);
    expect(fields({}, { directories: [{ host: '/data', container: '/data' }] })).toEqual(['command']);
    expect(fields({}, { restartPolicy: 'always' })).toEqual(['command']);
  });

  it('may have 200 variables of a person besides those of the platform', () => {
    const env = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `V${index}`, value: '' }));
    expect(fields({}, { env: env(205) })).toEqual([]);
    expect(fields({}, { env: env(211) })).toEqual(['env']);
  });
});

describe('hostile specs', () => {
  it('are refused on every kind of server, each with an error for its field', () => {
    const admitted = [OPEN, RENTED].flatMap((policy) =>
      HOSTILE.filter(
        ({ slug = 'web', spec }) => checkContainer({ slug, spec: { ...SPEC, ...spec } }, policy).hostConfig,
      ),
    );
    console.log(`hostile specs: n = ${HOSTILE.length} on 2 kinds of servers, admitted ${admitted.length}`);
    expect(HOSTILE.length).toBeGreaterThanOrEqual(60);
    expect(admitted.map(({ name }) => name)).toEqual([]);
  });

  it('gain nothing from unknown fields', () => {
    const plain = checkContainer({ slug: 'web', spec: SPEC }, OPEN).hostConfig;
    expect(plain).not.toBeNull();
    for (const privilege of PRIVILEGES)
      expect(checkContainer({ slug: 'web', spec: { ...SPEC, ...privilege } }, OPEN).hostConfig).toEqual(plain);
    console.log(`fields of no ours: n = ${PRIVILEGES.length}, of any effect 0`);
  });
});

describe('the create form', () => {
  const valid = { instanceRef: { id: 1 }, title: 'Web', slug: 'web', dockerImage: 'nginx:1', cpus: 1 };
  /** The first message of each field, as the form shows it. */
  const messages = (input: object): Record<string, string> => {
    const found: Record<string, string> = {};
    for (const issue of CreateContainer.safeParse({ ...valid, ...input }).error?.issues ?? [])
      found[issue.path.join('.')] ??= issue.message;
    return found;
  };

  it.each([
    [{ title: ' ' }, { title: 'Name is required' }],
    [{ slug: '' }, { slug: 'Unique ID is required' }],
    [{ slug: 'a b' }, { slug: 'Unique ID may contain only letters, digits and single hyphens between them' }],
    [{ slug: '-ab' }, { slug: 'Unique ID may contain only letters, digits and single hyphens between them' }],
    [{ dockerImage: '' }, { dockerImage: 'Image is required' }],
    [{ dockerImage: 'UPPER case' }, { dockerImage: 'Enter an image like name:tag or registry/name:tag' }],
    [{ cpus: undefined }, { cpus: 'CPU is required' }],
    [{ portMappings: [{ host: 999, container: 80 }] }, { 'portMappings.0.host': 'Port must be between 1000 and 9999' }],
    [{ portMappings: [{ container: 80 }] }, { 'portMappings.0.host': 'Port is required' }],
    [
      { directoryMappings: [{ host: 'data', container: '/x' }] },
      { 'directoryMappings.0.host': 'Volume path must start with /' },
    ],
    [
      { directoryMappings: [{ host: '/data', container: '' }] },
      { 'directoryMappings.0.container': 'Directory is required' },
    ],
    [{ env: [{ name: 'A=B', value: '' }] }, { 'env.0.name': 'Name must not contain "=" or a NUL' }],
    [
      {
        portMappings: [
          { host: 8080, container: 1 },
          { host: 8080, container: 2 },
        ],
      },
      { 'portMappings.1.host': 'This host port is listed twice' },
    ],
  ])('for %j says %j', (input, expected) => {
    expect(messages(input)).toMatchObject(expected);
  });

  it('takes a Unique ID in any case and lowercases it', () => {
    expect(CreateContainer.parse({ ...valid, slug: 'My-Web1' }).slug).toBe('my-web1');
  });
});
