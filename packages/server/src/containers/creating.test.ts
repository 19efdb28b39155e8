import { api } from '@stagi/contract/api.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { describe, expect, it } from 'vitest';
import { connectDaemon } from '../testing/daemon.ts';
import { aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import { type Create, readyServer } from './testing/readyServer.ts';

describe('creating containers', () => {
  const { at, join, request, create, statusOf } = readyServer();

  const refusal = async (more: Partial<Create>, by = at.alice): Promise<Record<string, string>> => {
    const error = await by.client(api.containers.create, request(more)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CallError);
    expect((error as CallError).status).toBe(400);
    return fieldErrors(error);
  };

  it('creates several at once, numbered, all or none', async () => {
    const { entities } = await at.alice.client(
      api.containers.create,
      request({ slug: 'many', title: 'Many', count: 3 }),
    );
    expect(entities.map(({ slug, title }) => [slug, title])).toEqual([
      ['many-1', 'Many 1'],
      ['many-2', 'Many 2'],
      ['many-3', 'Many 3'],
    ]);
    await create({ slug: 'few-2' });
    expect(await refusal({ slug: 'few', count: 3 })).toEqual({ slug: 'This Unique ID is taken' });
    const { entities: few } = await at.alice.client(api.containers.list, {
      entityFilterRequest: { queryString: 'few' },
    });
    expect(few.map(({ slug }) => slug)).toEqual(['few-2']);
    expect(await refusal({ slug: 'a'.repeat(39), count: 3 })).toHaveProperty('slug');
    expect(await refusal({ gpuIds: [0], count: 2 })).toHaveProperty('gpuIds');
  });

  it('refuses, at the field, a volume that the policy of an own server does not allow', async () => {
    const id = await aSelfHostedServer(at.app.ctx, at.alice);
    const key = await join(id, 'self-hosted');
    const volume = (host: string) => ({
      instanceRef: { id },
      directoryMappings: [
        { host: '/srv/stagi/a', container: '/a' },
        { host, container: '/x' },
      ],
    });
    const message = 'Volumes of this server must lie below /srv/stagi';
    const daemon = await connectDaemon(at.app.url, key, { facts: { volumeRoots: ['/srv/stagi'] } });
    for (const host of ['/home/x/.ssh', '/opt', '/var/lib/cloud/instance', '/data', '/srv/stagi-x'])
      expect(await refusal(volume(host)), host).toEqual({ 'directoryMappings.1.host': message });
    await create(volume('/srv/stagi/models'));
    await daemon.close();
    const { entity } = await at.alice.client(api.selfHosted.view, { id });
    expect(entity.facts?.volumeRoots).toEqual(['/srv/stagi']);

    // An agent of before does not say, and allows any: it is shown as open.
    const older = await connectDaemon(at.app.url, key);
    await create(volume('/home/x'));
    expect((await at.alice.client(api.selfHosted.view, { id })).entity.facts?.volumeRoots).toBeUndefined();
    await older.close();
  });

  it('refuses, at the field, what the rules and the server do not allow', async () => {
    await create({
      cpus: 2,
      gpuIds: [0],
      portMappings: [
        { host: 8080, container: 80 },
        { host: 8081, container: 81 },
      ],
    });
    const deny: [Partial<Create>, Record<string, string>][] = [
      [{ cpus: 2.1 }, { cpus: 'No available CPUs to create a container' }],
      [{ cpus: 0.7, count: 3 }, { cpus: 'No available CPUs to create a container' }],
      [{ gpuIds: [0] }, { gpuIds: 'GPU 0 is in use by another container' }],
      [{ gpuIds: [5] }, { gpuIds: 'This server has no free GPU 5' }],
      [{ memoryGb: 8.5 }, { memoryGb: 'This server allows at most 8.0 GB' }],
      [
        {
          portMappings: [
            { host: 9000, container: 80 },
            { host: 8081, container: 80 },
          ],
        },
        { 'portMappings.1.host': 'Port 8081 is in use on this server' },
      ],
      [
        { portMappings: [{ host: 80, container: 80 }] },
        { 'portMappings.0.host': 'Port must be between 1000 and 9999' },
      ],
      [{ command: `echo "open` }, { command: 'The command has a double quote that is not closed' }],
      [{ command: 'a\0b' }, { command: 'The command must not contain a NUL' }],
      [
        { directoryMappings: [{ host: '/etc/x', container: '/x' }] },
        { 'directoryMappings.0.host': 'This directory of the server cannot be mounted' },
      ],
      [
        { directoryMappings: [{ host: '/home', container: '/x' }] },
        { 'directoryMappings.0.host': 'Volumes of this server must lie below /data' },
      ],
      [
        { directoryMappings: [{ host: '/database', container: '/x' }] },
        { 'directoryMappings.0.host': 'Volumes of this server must lie below /data' },
      ],
      [
        { directoryMappings: [{ host: '/data', container: '/' }] },
        { 'directoryMappings.0.container': 'The root directory of the container cannot be replaced' },
      ],
      [
        { directoryMappings: [{ host: 'data', container: '/x' }] },
        { 'directoryMappings.0.host': 'Volume path must start with /' },
      ],
      [{ dockerImage: '--privileged' }, { dockerImage: 'Enter an image like name:tag or registry/name:tag' }],
      [{ slug: 'No Spaces' }, { slug: 'Unique ID may contain only letters, digits and single hyphens between them' }],
      [{ title: ' ' }, { title: 'Name is required' }],
      [{ env: [{ name: 'A=B', value: '' }] }, { 'env.0.name': 'Name must not contain "=" or a NUL' }],
    ];
    const long = { name: 'LONG', value: 'x'.repeat(30_000) };
    const tooMuch = Array.from({ length: 30 }, (_, index) => ({ ...long, name: `LONG_${index}` }));
    expect(await refusal({ env: tooMuch })).toHaveProperty('env');
    for (const [change, messages] of deny) expect(await refusal(change), JSON.stringify(change)).toEqual(messages);
    console.log(`container refusals: n = ${deny.length}`);
    const { entities } = await at.alice.client(api.containers.list, { instanceRef: { id: at.server } });
    expect(entities).toHaveLength(1);
  });

  it('allocates the last CPU and a port to one of many concurrent creations', async () => {
    const cpus = await Promise.allSettled(Array.from({ length: 8 }, () => create({ cpus: 1 })));
    expect(cpus.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const { entities } = await at.alice.client(api.containers.list, { instanceRef: { id: at.server } });
    await at.alice.client(api.containers.delete, { id: entities[0]!.id });
    at.daemon.sendInventory();
    await expect.poll(() => statusOf(entities[0]!.id)).toBe('deleted');
    const ports = await Promise.allSettled(
      Array.from({ length: 8 }, () => create({ portMappings: [{ host: 5000, container: 80 }] })),
    );
    expect(ports.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    console.log('races for CPUs and a port: n = 16, accepted 4 and 1');
  });

  it('creates only on an online server of the own workspace, of a kind that the caller manages', async () => {
    const offline = await aRentedInstance(at.app.ctx, at.alice, 'unresponsive');
    const silent = await aSelfHostedServer(at.app.ctx, at.alice);
    for (const id of [offline, silent]) {
      expect(await refusal({ instanceRef: { id } })).toEqual({
        instanceRef: 'Containers can only be created for server instances that are online',
      });
    }
    const mallory = await at.app.signUp();
    for (const id of [at.server, 999_999, 2 ** 40]) {
      await expect(mallory.client(api.containers.create, request({ instanceRef: { id } }))).rejects.toMatchObject({
        status: 404,
      });
    }
    await create({ slug: 'taken' });
    const theirs = await aRentedInstance(at.app.ctx, mallory);
    const theirDaemon = await connectDaemon(at.app.url, await join(theirs));
    expect(await refusal({ instanceRef: { id: theirs }, slug: 'taken' }, mallory)).toEqual({
      slug: 'This Unique ID is taken',
    });
    await theirDaemon.close();
  });

  it('asks for a choice of GPUs where there are any; none is a choice', async () => {
    const { gpuIds: _, ...silent } = request();
    await expect(at.alice.client(api.containers.create, silent)).rejects.toMatchObject({
      status: 400,
      body: { message: 'GPU is required', fieldsWithError: ['gpuIds'] },
    });
    expect((await create({ gpuIds: [] })).gpuIds).toEqual([]);
    const own = await aSelfHostedServer(at.app.ctx, at.alice);
    const ownDaemon = await connectDaemon(at.app.url, await join(own, 'self-hosted'));
    const { entity } = await at.alice.client(api.containers.create, { ...silent, instanceRef: { id: own } });
    expect(entity.gpuIds).toEqual([]);
    await ownDaemon.close();
  });

  it('clones with the hidden environment, for who may manage the original', async () => {
    const env = [
      { name: 'TOKEN', value: 'canary-7c1e', secret: true },
      { name: 'MODE', value: 'fast' },
    ];
    const original = await create({ env, portMappings: [{ host: 8090, container: 80 }] });
    const cloneOf = { id: original.id };
    const asked = [{ name: 'TOKEN' }, { name: 'MODE', value: 'slow' }];
    const clone = await create({ cloneOf, env: asked });
    expect(clone).toMatchObject({ envNames: ['TOKEN', 'MODE'], secretEnvNames: ['TOKEN'] });
    const { containers } = await at.daemon.desired((state) => state.containers.some(({ id }) => id === clone.id));
    expect(containers.find(({ id }) => id === clone.id)?.spec.env).toEqual([
      { name: 'TOKEN', value: 'canary-7c1e', secret: true },
      { name: 'MODE', value: 'slow' },
    ]);
    expect(await refusal({ cloneOf, env: [{ name: 'OTHER' }] })).toEqual({ 'env.0.value': 'Value is required' });
    expect(await refusal({ env: asked })).toEqual({ 'env.0.value': 'Value is required' });
    for (const host of ['/', '//', '/.', '/./'])
      expect(await refusal({ cloneOf, directoryMappings: [{ host, container: '/x' }] })).toEqual({
        'directoryMappings.0.host': 'The root directory cannot be used for cloning',
      });
    const mallory = await at.app.signUp();
    const theirs = await aRentedInstance(at.app.ctx, mallory);
    const theirDaemon = await connectDaemon(at.app.url, await join(theirs));
    const stolen = request({ instanceRef: { id: theirs }, env: asked, cloneOf });
    await expect(mallory.client(api.containers.create, stolen)).rejects.toMatchObject({ status: 404 });
    await theirDaemon.close();
  });

  it('asks for secrets again on another server, for everybody', async () => {
    const env = [
      { name: 'TOKEN', value: 'canary-7c1e', secret: true },
      { name: 'MODE', value: 'fast' },
    ];
    const cloneOf = { id: (await create({ env })).id };
    const message = 'This secret was entered for another server: enter it again for this one';
    for (const kind of ['rented', 'self-hosted'] as const) {
      const id = await (kind === 'rented' ? aRentedInstance : aSelfHostedServer)(at.app.ctx, at.alice);
      const daemon = await connectDaemon(at.app.url, await join(id, kind));
      const more = { cloneOf, instanceRef: { id } };
      const refused: Create['env'][] = [
        [{ name: 'TOKEN' }],
        [{ name: 'TOKEN', secret: true }],
        [{ name: 'TOKEN', secret: false }],
      ];
      for (const asked of refused) expect(await refusal({ ...more, env: asked })).toEqual({ 'env.0.value': message });
      expect(await refusal({ ...more, env: [{ name: 'MODE' }, { name: 'TOKEN' }] })).toEqual({
        'env.1.value': message,
      });
      const given = await create({ ...more, env: [{ name: 'MODE' }, { name: 'TOKEN', value: 'new' }] });
      expect(given.envNames).toEqual(['MODE', 'TOKEN']);
      await daemon.close();
    }
  });

  it('asks for a daemon that knows shared memory, health checks and secret variables', async () => {
    const shown = await create({ shmMb: 64, memoryGb: 0.5, healthCheck: { command: 'test -e /ready' } });
    expect(shown).toMatchObject({
      shmMb: 64,
      healthCheck: { command: 'test -e /ready', intervalSeconds: 30, timeoutSeconds: 30, retries: 3 },
    });
    expect((await create()).shmMb).toBeNull();
    expect(await refusal({ shmMb: 513, memoryGb: 0.5 })).toEqual({
      shmMb: 'Shared memory must not be larger than the memory',
    });
    expect(await refusal({ healthCheck: { command: ' ' } })).toEqual({ 'healthCheck.command': 'Command is required' });
    const old = await aSelfHostedServer(at.app.ctx, at.alice);
    const oldDaemon = await connectDaemon(at.app.url, await join(old, 'self-hosted'));
    const instanceRef = { id: old };
    for (const more of [
      { shmMb: 64 },
      { healthCheck: { command: 'true' } },
      { env: [{ name: 'A', value: 'b', secret: true }] },
    ])
      expect(await refusal({ instanceRef, ...more })).toEqual({
        instanceRef: 'The agent of this server is too old for this: install it again',
      });
    await oldDaemon.close();
  });

  it('allows any directory but the system’s own on a self-hosted server', async () => {
    const own = await aSelfHostedServer(at.app.ctx, at.alice);
    const ownDaemon = await connectDaemon(at.app.url, await join(own, 'self-hosted'));
    const instanceRef = { id: own };
    const allowed = await create({ instanceRef, directoryMappings: [{ host: '/srv/data', container: '/x' }] });
    expect(allowed.instance).toMatchObject({ id: own, kind: 'self-hosted' });
    for (const host of ['/', '/etc', '/var/lib/docker/x', '/run/docker.sock', '/root', '/proc', '/srv/../etc']) {
      expect(await refusal({ instanceRef, directoryMappings: [{ host, container: '/x' }] })).toHaveProperty([
        'directoryMappings.0.host',
      ]);
    }
    await ownDaemon.close();
  });
});
