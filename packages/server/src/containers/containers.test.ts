import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { transitionInstance } from '../instances/status.ts';
import { connectDaemon } from '../testing/daemon.ts';
import { aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import { readyServer } from './testing/readyServer.ts';
import { failOverdue } from './worker.ts';

describe('containers', () => {
  const { at, join, request, create, view, statusOf, wanted, running } = readyServer();

  const overdue = async (id: number): Promise<void> => {
    await at.app.ctx.db
      .updateTable('container')
      .set({ status_deadline: new Date(0) })
      .where('id', '=', id)
      .execute();
    await failOverdue(at.app.ctx);
  };

  it('sends the daemon exactly what was requested, and stores the environment encrypted', async () => {
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
      specNo: 1,
      slug: container.slug,
      state: 'running',
      stopGraceSeconds: 30,
      spec: {
        image: 'busybox',
        command: ['sh', '-c', 'echo "$GREETING"; sleep 1', '--flag=a b'],
        env: [{ name: 'GREETING', value: '  canary-5f2c ; $(reboot)' }],
        nanoCpus: 1.5e9,
        memoryBytes: 0.5 * 2 ** 30,
        gpuIds: [1],
        ports: [{ host: 8080, container: 80, public: false }],
        directories: [{ host: '/data/set', container: '/set' }],
        restartPolicy: 'on-failure',
        capabilities: 'docker',
      },
    });
    const { rows } = await sql<{
      row: string;
    }>`select c::text as row from container c where id = ${container.id}`.execute(at.app.ctx.db);
    expect(rows[0]!.row).not.toContain('canary');
    expect(JSON.stringify(await view(container.id))).not.toContain('canary');
  });

  it('goes from creating over pulling and starting to running, stops, starts again, and is deleted when gone', async () => {
    const { id } = await create();
    at.daemon.send({
      type: 'progress',
      containerId: id,
      gen: 1,
      phase: 'pulling',
      detail: '3 of 12 MB',
      fraction: 0.25,
    });
    await expect
      .poll(() => view(id))
      .toMatchObject({ status: 'creating', progress: { phase: 'pulling', detail: '3 of 12 MB', fraction: 0.25 } });
    at.daemon.send({ type: 'progress', containerId: id, gen: 1, phase: 'starting', detail: null, fraction: null });
    await expect.poll(() => view(id)).toMatchObject({ status: 'starting' });
    at.daemon.applyDesired(await wanted(id));
    await expect.poll(() => view(id)).toMatchObject({ status: 'running', progress: null, statusDeadline: null });

    expect((await at.alice.client(api.containers.stop, { id })).entity.status).toBe('stopping');
    at.daemon.applyDesired(await wanted(id, 'stopped'));
    await expect.poll(() => statusOf(id)).toBe('stopped');

    const { entity } = await at.alice.client(api.containers.start, { id });
    expect(entity.status).toBe('starting');
    at.daemon.sendInventory();
    const again = await at.daemon.desired(({ containers }) => containers.some((one) => one.id === id && one.gen === 3));
    expect(await statusOf(id)).toBe('starting');
    at.daemon.applyDesired(again);
    await expect.poll(() => statusOf(id)).toBe('running');

    await at.alice.client(api.containers.delete, { id });
    expect(await statusOf(id)).toBe('terminating');
    const farewell = await wanted(id, 'absent');
    expect(farewell.containers.find((one) => one.id === id)?.spec.env).toEqual([]);
    at.daemon.applyDesired(farewell);
    await expect.poll(() => statusOf(id)).toBe('deleted');
    const { entities } = await at.alice.client(api.containers.list, {});
    expect(entities.map((one) => one.id)).not.toContain(id);
  });

  it('shows how a container ended, and does not restart it', async () => {
    const ends: [Partial<(typeof at.daemon.inventory.containers)[0]>, string, string | null, number | null][] = [
      [{ exitCode: 0 }, 'exited', null, 0],
      [{ exitCode: 3 }, 'failed', 'It ended with exit code 3', 3],
      [{ exitCode: 137, oomKilled: true }, 'failed', 'It ran out of memory', 137],
    ];
    for (const [how, status, statusReason, exitCode] of ends) {
      const { id } = await running();
      at.daemon.inventory.containers = at.daemon.inventory.containers.map((one) =>
        one.id === id ? { ...one, state: 'exited', finishedAt: new Date().toISOString(), ...how } : one,
      );
      at.daemon.sendInventory();
      await expect.poll(() => view(id)).toMatchObject({ status, statusReason, exitCode });
      await wanted(id, 'stopped');
    }
  });

  it('shows why a creation failed, makes it absent for the daemon, and deletes it at once', async () => {
    const { id } = await create();
    at.daemon.send({
      type: 'failed',
      containerId: id,
      gen: 1,
      phase: 'pulling',
      message: 'No such image',
      permanent: false,
    });
    await expect.poll(() => view(id)).toMatchObject({ status: 'creating', statusReason: 'No such image' });
    at.daemon.send({ type: 'failed', containerId: id, gen: 0, phase: 'pulling', message: 'Old news', permanent: true });
    at.daemon.send({
      type: 'failed',
      containerId: id,
      gen: 1,
      phase: 'pulling',
      message: 'Not found',
      permanent: true,
    });
    await expect
      .poll(() => view(id))
      .toMatchObject({
        status: 'creation failed',
        statusReason: 'Not found',
        failedStep: { phase: 'pulling', cause: 'Not found', attempts: 2 },
      });
    await wanted(id, 'absent');
    await at.alice.client(api.containers.delete, { id });
    expect(await statusOf(id)).toBe('deleted');
  });

  it('shows the cause, the attempt and the next one of an image that cannot be pulled, and gives up in time', async () => {
    const { id, statusDeadline } = await create();
    const about = { containerId: id, gen: 1 };
    const pulling = { type: 'progress', ...about, phase: 'pulling', detail: null, fraction: null } as const;
    const cause = 'The registry of busybox cannot be reached from the server';
    const fails = (attempt: number, retryInMs: number) =>
      at.daemon.send({ type: 'failed', ...about, phase: 'pull', message: cause, permanent: false, attempt, retryInMs });
    at.daemon.send(pulling);
    at.daemon.send({ ...pulling, phase: 'creating' });
    fails(1, 60_000);
    await expect
      .poll(() => view(id))
      .toMatchObject({
        status: 'creating',
        progress: null,
        statusReason: cause,
        failedStep: { phase: 'pull', cause, attempts: 1, nextTryAt: expect.any(String) },
      });
    const { failedStep } = await view(id);
    expect(Date.parse(failedStep?.nextTryAt ?? '') - Date.now()).toBeGreaterThan(50_000);

    at.daemon.send(pulling);
    await expect.poll(() => view(id)).toMatchObject({ failedStep: { attempts: 1, nextTryAt: null } });
    fails(2, 90_000);
    await expect.poll(() => view(id)).toMatchObject({ progress: null, failedStep: { attempts: 2 } });
    expect((await view(id)).statusDeadline).toBe(statusDeadline);

    // Only a download that gets further than any before gains time.
    at.daemon.send({ ...pulling, fraction: 0.4 });
    await expect.poll(async () => (await view(id)).progress?.fraction).toBe(0.4);
    const extended = (await view(id)).statusDeadline;
    expect(Date.parse(extended ?? '')).toBeGreaterThan(Date.parse(statusDeadline ?? ''));
    fails(3, 90_000);
    await expect.poll(() => view(id)).toMatchObject({ progress: null, failedStep: { attempts: 3 } });
    at.daemon.send({ ...pulling, fraction: 0.3 });
    await expect.poll(async () => (await view(id)).progress?.fraction).toBe(0.3);
    expect((await view(id)).statusDeadline).toBe(extended);

    await overdue(id);
    expect(await view(id)).toMatchObject({
      status: 'creation failed',
      statusReason: cause,
      failedStep: { attempts: 3, nextTryAt: null },
    });
  });

  it('removes a container that appears on the server after it was deleted', async () => {
    const { id } = await create();
    const state = await wanted(id);
    await at.alice.client(api.containers.delete, { id });
    at.daemon.sendInventory();
    await expect.poll(() => statusOf(id)).toBe('deleted');
    const gone = await at.daemon.desired(
      ({ gen, containers }) => gen > state.gen && !containers.some((one) => one.id === id),
    );
    at.daemon.applyDesired(state);
    const late = await at.daemon.desired(
      ({ gen, containers }) => gen > gone.gen && containers.some((one) => one.id === id && one.state === 'absent'),
    );
    expect(late.containers.every((one) => one.state === 'absent')).toBe(true);
  });

  it('refuses an action that the status does not allow with its reason, and 404 to others', async () => {
    const { id } = await running();
    await expect(at.alice.client(api.containers.start, { id })).rejects.toMatchObject({
      status: 200,
      message: 'Only a stopped container can be started',
    });
    const mallory = await at.app.signUp();
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
    await expect(mallory.client(api.containers.list, { instanceRef: { id: at.server } })).rejects.toMatchObject({
      status: 404,
    });
    await expect(mallory.client(api.serverImages.list, { instanceRef: { id: at.server } })).rejects.toMatchObject({
      status: 404,
    });
    expect(await statusOf(id)).toBe('running');
  });

  it('follows its server: stopped, unreachable, online again, deleted', async () => {
    const { id } = await running();
    const move = (to: string) =>
      inTransaction(at.app.ctx.db, (trx) => transitionInstance(at.app.ctx, trx, at.server, to, {}));
    await move('unresponsive');
    expect(await view(id)).toMatchObject({ status: 'unresponsive', statusReason: 'Its server cannot be reached' });
    await move('online');
    expect(await view(id)).toMatchObject({ status: 'running', statusReason: null });
    await move('powering off');
    expect(await statusOf(id)).toBe('stopped');
    at.daemon.inventory.images = [{ reference: 'still-here', sizeBytes: 1, createdAt: null }];
    at.daemon.sendInventory();
    await expect
      .poll(
        async () => (await at.alice.client(api.serverImages.list, { instanceRef: { id: at.server } })).entities.length,
      )
      .toBe(1);
    expect(await statusOf(id)).toBe('stopped');
    await move('terminating');
    await move('terminated');
    expect(await statusOf(id)).toBe('deleted');
  });

  it('fails transitions whose deadline has passed', async () => {
    const stuck = await create();
    await overdue(stuck.id);
    expect(await view(stuck.id)).toMatchObject({ status: 'creation failed', statusReason: 'It was not ready in time' });
    const { id } = await running();
    await at.alice.client(api.containers.stop, { id });
    await overdue(id);
    expect(await view(id)).toMatchObject({ status: 'failed', statusReason: 'It did not stop in time' });
    at.daemon.sendInventory();
    await expect.poll(() => statusOf(id)).toBe('running');
  });

  it('lists by page, order, text, status and server', async () => {
    const bob = await at.app.signUp();
    const theirs = await aRentedInstance(at.app.ctx, bob);
    const bobsDaemon = await connectDaemon(at.app.url, await join(theirs));
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
    const own = await aSelfHostedServer(at.app.ctx, at.alice);
    const ownDaemon = await connectDaemon(at.app.url, await join(own, 'self-hosted'));
    const rented = await create();
    const self = await create({ instanceRef: { id: own } });
    const { visibleContainer, lockManagedContainer: managedContainer } = await import('./access.ts');
    const viewer = (permissions: Parameters<typeof visibleContainer>[0]['workspace']['permissions']) => ({
      db: at.app.ctx.db,
      workspace: { id: at.alice.workspaceId, permissions },
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
