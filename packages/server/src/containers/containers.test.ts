import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueEnrolment } from '../daemon-link/enrolment.ts';
import { inTransaction } from '../db/pool.ts';
import { moveInstance } from '../instances/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey, type TestDaemon } from '../testing/daemon.ts';
import { anOwnServer, aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { failOverdue } from './worker.ts';

type Create = InputOf<typeof api.containers.create>;

const GPUS = [0, 1].map((index) => ({ index, name: 'GPU', memoryMb: 1024 }));

describe('containers', () => {
  let app: TestApp;
  let alice: Person;
  let server: number;
  let key: NodeKey;
  let daemon: TestDaemon;
  let made = 0;

  const join = async (id: number, kind: 'rented' | 'self-hosted' = 'rented'): Promise<NodeKey> => {
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, kind));
    return enrolNode(app.url, token);
  };

  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp();
  });
  afterAll(async () => {
    await app?.close();
  });
  beforeEach(async () => {
    server = await aRentedInstance(app.ctx, alice);
    key = await join(server);
    daemon = await connectDaemon(app.url, key, { facts: { gpus: GPUS } });
  });
  afterEach(async () => {
    await daemon.close();
  });

  const request = (more: Partial<Create> = {}): Create => {
    made += 1;
    return {
      instanceRef: { id: server },
      title: 'Job',
      slug: `job-${made}`,
      dockerImage: 'busybox',
      cpus: 0.1,
      ...more,
    };
  };
  const create = async (more: Partial<Create> = {}) =>
    (await alice.client(api.containers.create, request(more))).entity;
  const view = async (id: number) => (await alice.client(api.containers.view, { id })).entity;
  const statusOf = async (id: number) => (await view(id)).status;
  const refusal = async (more: Partial<Create>, by = alice): Promise<Record<string, string>> => {
    const error = await by.client(api.containers.create, request(more)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CallError);
    expect((error as CallError).status).toBe(400);
    return fieldErrors(error);
  };
  const wanted = (id: number, state?: string) =>
    daemon.desired(({ containers }) => containers.some((one) => one.id === id && (!state || one.state === state)));
  const running = async (more: Partial<Create> = {}) => {
    const container = await create(more);
    daemon.obey(await wanted(container.id));
    await expect.poll(() => statusOf(container.id)).toBe('running');
    return container;
  };

  it('tells the daemon exactly what was asked for, the environment included, and stores that sealed', async () => {
    const container = await create({
      title: 'Trainer',
      command: `sh -c 'echo "$GREETING"; sleep 1' --flag=a\\ b`,
      env: [{ name: 'GREETING', value: '  canary-5f2c ; $(reboot)' }],
      cpus: 1.5,
      memoryGb: 0.5,
      gpuIds: [1],
      portMappings: [{ host: 8080, container: 80, visibility: 'private' }],
      directoryMappings: [{ host: '/data/set', container: '/set' }],
      restartPolicy: 'on-failure',
    });
    expect(container).toMatchObject({ status: 'creating', envNames: ['GREETING'], title: 'Trainer', cpus: 1.5 });
    const { containers } = await wanted(container.id);
    expect(containers.find(({ id }) => id === container.id)).toEqual({
      id: container.id,
      gen: 1,
      slug: container.slug,
      state: 'running',
      spec: {
        image: 'busybox',
        command: ['sh', '-c', 'echo "$GREETING"; sleep 1', '--flag=a b'],
        env: [{ name: 'GREETING', value: '  canary-5f2c ; $(reboot)' }],
        nanoCpus: 1.5e9,
        memoryBytes: 0.5 * 2 ** 30,
        gpuIds: [1],
        ports: [{ host: 8080, container: 80 }],
        directories: [{ host: '/data/set', container: '/set' }],
        restartPolicy: 'on-failure',
      },
    });
    const { rows } = await sql<{
      row: string;
    }>`select c::text as row from container c where id = ${container.id}`.execute(app.ctx.db);
    expect(rows[0]!.row).not.toContain('canary');
    expect(JSON.stringify(await view(container.id))).not.toContain('canary');
  });

  it('goes from creating over pulling and starting to running, stops, starts again, and is deleted when gone', async () => {
    const { id } = await create();
    daemon.send({ type: 'progress', containerId: id, gen: 1, phase: 'pulling', detail: '3 of 12 MB', fraction: 0.25 });
    await expect
      .poll(() => view(id))
      .toMatchObject({ status: 'creating', progress: { phase: 'pulling', detail: '3 of 12 MB', fraction: 0.25 } });
    daemon.send({ type: 'progress', containerId: id, gen: 1, phase: 'starting', detail: null, fraction: null });
    await expect.poll(() => view(id)).toMatchObject({ status: 'starting' });
    daemon.obey(await wanted(id));
    await expect.poll(() => view(id)).toMatchObject({ status: 'running', progress: null, statusDeadline: null });

    expect((await alice.client(api.containers.stop, { id })).entity.status).toBe('stopping');
    daemon.obey(await wanted(id, 'stopped'));
    await expect.poll(() => statusOf(id)).toBe('stopped');

    const { entity } = await alice.client(api.containers.start, { id });
    expect(entity.status).toBe('starting');
    daemon.tell();
    const again = await daemon.desired(({ containers }) => containers.some((one) => one.id === id && one.gen === 3));
    expect(await statusOf(id)).toBe('starting');
    daemon.obey(again);
    await expect.poll(() => statusOf(id)).toBe('running');

    await alice.client(api.containers.delete, { id });
    expect(await statusOf(id)).toBe('terminating');
    const farewell = await wanted(id, 'absent');
    expect(farewell.containers.find((one) => one.id === id)?.spec.env).toEqual([]);
    daemon.obey(farewell);
    await expect.poll(() => statusOf(id)).toBe('deleted');
    const { entities } = await alice.client(api.containers.list, {});
    expect(entities.map((one) => one.id)).not.toContain(id);
  });

  it('shows how a container ended, and leaves it so', async () => {
    const ends: [Partial<(typeof daemon.inventory.containers)[0]>, string, string | null, number | null][] = [
      [{ exitCode: 0 }, 'exited', null, 0],
      [{ exitCode: 3 }, 'failed', 'It ended with exit code 3', 3],
      [{ exitCode: 137, oomKilled: true }, 'failed', 'It ran out of memory', 137],
    ];
    for (const [how, status, statusReason, exitCode] of ends) {
      const { id } = await running();
      daemon.inventory.containers = daemon.inventory.containers.map((one) =>
        one.id === id ? { ...one, state: 'exited', finishedAt: new Date().toISOString(), ...how } : one,
      );
      daemon.tell();
      await expect.poll(() => view(id)).toMatchObject({ status, statusReason, exitCode });
      await wanted(id, 'stopped');
    }
  });

  it('tells why a creation failed, tells the daemon to leave it, and deletes it at once', async () => {
    const { id } = await create();
    daemon.send({
      type: 'failed',
      containerId: id,
      gen: 1,
      phase: 'pulling',
      message: 'No such image',
      permanent: false,
    });
    await expect.poll(() => view(id)).toMatchObject({ status: 'creating', statusReason: 'No such image' });
    daemon.send({ type: 'failed', containerId: id, gen: 0, phase: 'pulling', message: 'Old news', permanent: true });
    daemon.send({ type: 'failed', containerId: id, gen: 1, phase: 'pulling', message: 'Not found', permanent: true });
    await expect.poll(() => view(id)).toMatchObject({ status: 'creation failed', statusReason: 'Not found' });
    await wanted(id, 'absent');
    await alice.client(api.containers.delete, { id });
    expect(await statusOf(id)).toBe('deleted');
  });

  it('removes what appears on the server after it was deleted here', async () => {
    const { id } = await create();
    const state = await wanted(id);
    await alice.client(api.containers.delete, { id });
    daemon.tell();
    await expect.poll(() => statusOf(id)).toBe('deleted');
    const gone = await daemon.desired(
      ({ gen, containers }) => gen > state.gen && !containers.some((one) => one.id === id),
    );
    daemon.obey(state);
    const late = await daemon.desired(
      ({ gen, containers }) => gen > gone.gen && containers.some((one) => one.id === id && one.state === 'absent'),
    );
    expect(late.containers.every((one) => one.state === 'absent')).toBe(true);
  });

  it('makes N at once, numbered, all or none', async () => {
    const { entities } = await alice.client(api.containers.create, request({ slug: 'many', title: 'Many', count: 3 }));
    expect(entities.map(({ slug, title }) => [slug, title])).toEqual([
      ['many-1', 'Many 1'],
      ['many-2', 'Many 2'],
      ['many-3', 'Many 3'],
    ]);
    await create({ slug: 'few-2' });
    expect(await refusal({ slug: 'few', count: 3 })).toEqual({ slug: 'This Unique ID is taken' });
    const { entities: few } = await alice.client(api.containers.list, { entityFilterRequest: { queryString: 'few' } });
    expect(few.map(({ slug }) => slug)).toEqual(['few-2']);
    expect(await refusal({ slug: 'a'.repeat(39), count: 3 })).toHaveProperty('slug');
    expect(await refusal({ gpuIds: [0], count: 2 })).toHaveProperty('gpuIds');
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
      [{ command: 'a\0b' }, { command: 'The command may not hold a NUL' }],
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
      [{ slug: 'No Spaces' }, { slug: 'Unique ID may hold only letters, digits and single hyphens between them' }],
      [{ title: ' ' }, { title: 'Name is required' }],
      [{ env: [{ name: 'A B', value: '' }] }, { 'env.0.name': 'Name may hold only letters, digits and underscores' }],
    ];
    const long = { name: 'LONG', value: 'x'.repeat(30_000) };
    const tooMuch = Array.from({ length: 30 }, (_, index) => ({ ...long, name: `LONG_${index}` }));
    expect(await refusal({ env: tooMuch })).toHaveProperty('env');
    for (const [change, messages] of deny) expect(await refusal(change), JSON.stringify(change)).toEqual(messages);
    console.log(`container refusals: n = ${deny.length}`);
    const { entities } = await alice.client(api.containers.list, { instanceRef: { id: server } });
    expect(entities).toHaveLength(1);
  });

  it('promises the last CPU and the same port to one of many that ask at the same time', async () => {
    const cpus = await Promise.allSettled(Array.from({ length: 8 }, () => create({ cpus: 1 })));
    expect(cpus.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const { entities } = await alice.client(api.containers.list, { instanceRef: { id: server } });
    await alice.client(api.containers.delete, { id: entities[0]!.id });
    daemon.tell();
    await expect.poll(() => statusOf(entities[0]!.id)).toBe('deleted');
    const ports = await Promise.allSettled(
      Array.from({ length: 8 }, () => create({ portMappings: [{ host: 5000, container: 80 }] })),
    );
    expect(ports.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    console.log('races for CPUs and a port: n = 16, accepted 4 and 1');
  });

  it('creates only on a server that is online, of the own workspace, of a kind one manages', async () => {
    const offline = await aRentedInstance(app.ctx, alice, 'unresponsive');
    const silent = await anOwnServer(app.ctx, alice);
    for (const id of [offline, silent]) {
      expect(await refusal({ instanceRef: { id } })).toEqual({
        instanceRef: 'Containers can only be created for server instances that are online',
      });
    }
    const mallory = await app.signUp();
    for (const id of [server, 999_999, 2 ** 40]) {
      await expect(mallory.client(api.containers.create, request({ instanceRef: { id } }))).rejects.toMatchObject({
        status: 404,
      });
    }
    await create({ slug: 'taken' });
    const theirs = await aRentedInstance(app.ctx, mallory);
    const theirDaemon = await connectDaemon(app.url, await join(theirs));
    expect(await refusal({ instanceRef: { id: theirs }, slug: 'taken' }, mallory)).toEqual({
      slug: 'This Unique ID is taken',
    });
    await theirDaemon.close();
  });

  it('allows any directory but the system’s own on a server of one’s own', async () => {
    const own = await anOwnServer(app.ctx, alice);
    const ownDaemon = await connectDaemon(app.url, await join(own, 'self-hosted'));
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

  it('refuses an action that the status does not allow with its reason, and 404 to others', async () => {
    const { id } = await running();
    await expect(alice.client(api.containers.start, { id })).rejects.toMatchObject({
      status: 200,
      message: 'Only a stopped container can be started',
    });
    const mallory = await app.signUp();
    for (const call of [
      api.containers.view,
      api.containers.start,
      api.containers.stop,
      api.containers.restart,
      api.containers.delete,
    ]) {
      await expect(mallory.client(call, { id })).rejects.toMatchObject({ status: 404 });
    }
    const { entities } = await mallory.client(api.containers.list, {});
    expect(entities).toEqual([]);
    await expect(mallory.client(api.containers.list, { instanceRef: { id: server } })).rejects.toMatchObject({
      status: 404,
    });
    await expect(mallory.client(api.containers.images, { instanceRef: { id: server } })).rejects.toMatchObject({
      status: 404,
    });
    expect(await statusOf(id)).toBe('running');
  });

  it('follows its server: stopped, out of reach, seen again, gone', async () => {
    const { id } = await running();
    const move = (to: string) => inTransaction(app.ctx.db, (trx) => moveInstance(app.ctx, trx, server, to, {}));
    await move('unresponsive');
    expect(await view(id)).toMatchObject({ status: 'unresponsive', statusReason: 'Its server cannot be reached' });
    await move('online');
    expect(await view(id)).toMatchObject({ status: 'running', statusReason: null });
    await move('powering off');
    expect(await statusOf(id)).toBe('stopped');
    daemon.inventory.images = [{ reference: 'still-here', sizeBytes: 1, createdAt: null }];
    daemon.tell();
    await expect
      .poll(async () => (await alice.client(api.containers.images, { instanceRef: { id: server } })).entities.length)
      .toBe(1);
    expect(await statusOf(id)).toBe('stopped');
    await move('terminating');
    await move('terminated');
    expect(await statusOf(id)).toBe('deleted');
  });

  it('ends transitions that outlive their deadline', async () => {
    const overdue = async (id: number): Promise<void> => {
      await app.ctx.db
        .updateTable('container')
        .set({ status_deadline: new Date(0) })
        .where('id', '=', id)
        .execute();
      await failOverdue(app.ctx);
    };
    const stuck = await create();
    await overdue(stuck.id);
    expect(await view(stuck.id)).toMatchObject({ status: 'creation failed', statusReason: 'It was not ready in time' });
    const { id } = await running();
    await alice.client(api.containers.stop, { id });
    await overdue(id);
    expect(await view(id)).toMatchObject({ status: 'failed', statusReason: 'It did not stop in time' });
    daemon.tell();
    await expect.poll(() => statusOf(id)).toBe('running');
  });

  it('lists by page, order, text, status and server', async () => {
    const bob = await app.signUp();
    const theirs = await aRentedInstance(app.ctx, bob);
    const bobsDaemon = await connectDaemon(app.url, await join(theirs));
    const instanceRef = { id: theirs };
    for (const slug of ['list-b', 'list-c', 'list-a']) {
      await bob.client(api.containers.create, request({ instanceRef, slug, title: slug.toUpperCase() }));
    }
    const list = async (entityFilterRequest: object) => {
      const { entities, totalCount, totalPages } = await bob.client(api.containers.list, { entityFilterRequest });
      return { slugs: entities.map(({ slug }) => slug), totalCount, totalPages };
    };
    expect(await list({})).toEqual({ slugs: ['list-a', 'list-c', 'list-b'], totalCount: 3, totalPages: 1 });
    expect(await list({ orderByField: 'slug', orderByDirection: 'asc', limit: 2, page: 2 })).toEqual({
      slugs: ['list-c'],
      totalCount: 3,
      totalPages: 2,
    });
    expect((await list({ queryString: 'LIST-C' })).slugs).toEqual(['list-c']);
    expect((await list({ queryString: '%' })).slugs).toEqual([]);
    expect((await list({ statuses: ['running'] })).slugs).toEqual([]);
    expect((await list({ statuses: ['creating'] })).slugs).toHaveLength(3);
    await expect(list({ orderByField: 'env_sealed' })).rejects.toMatchObject({ status: 400 });
    await bobsDaemon.close();
  });

  it('shows a member only the containers of the kinds they may manage', async () => {
    const own = await anOwnServer(app.ctx, alice);
    const ownDaemon = await connectDaemon(app.url, await join(own, 'self-hosted'));
    const rented = await create();
    const self = await create({ instanceRef: { id: own } });
    const { visibleContainer, managedContainer } = await import('./access.ts');
    const viewer = (permissions: Parameters<typeof visibleContainer>[0]['workspace']['permissions']) => ({
      db: app.ctx.db,
      workspace: { id: alice.workspaceId, permissions },
    });
    const onlyRented = viewer(['INSTANCE_RENTED_MANAGEMENT']);
    expect((await visibleContainer(onlyRented, { id: rented.id })).id).toBe(rented.id);
    await expect(visibleContainer(onlyRented, { id: self.id })).rejects.toMatchObject({ status: 404 });
    const onlySelf = viewer(['SELFHOSTED_INSTANCE_MANAGEMENT']);
    await expect(visibleContainer(onlySelf, { slug: rented.slug })).rejects.toMatchObject({ status: 404 });
    const projects = viewer(['PROJECT_MANAGEMENT', 'INSTANCE_RENTED_MANAGEMENT']);
    expect((await visibleContainer(projects, { id: self.id })).id).toBe(self.id);
    await expect(managedContainer(projects, { id: self.id })).rejects.toMatchObject({ status: 403 });
    await expect(visibleContainer(viewer(['BASIC_ACTIONS']), { id: self.id })).rejects.toMatchObject({ status: 404 });
    await ownDaemon.close();
  });
});
