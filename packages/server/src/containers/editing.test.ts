import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { containerCan } from '@stagi/contract/containerRules.ts';
import { CONTAINER_MOVES, type ContainerStatus } from '@stagi/contract/containers.ts';
import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { connectDaemon } from '../testing/daemon.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { readyServer } from './testing/readyServer.ts';

type Edit = Omit<InputOf<typeof api.containers.edit>, 'ref'>;

describe('editing a container', () => {
  const { at, join, create, view, statusOf, running } = readyServer();

  const edit = async (id: number, change: Edit) =>
    (await at.alice.client(api.containers.edit, { ref: { id }, ...change })).entity;
  const undo = async (id: number) => (await at.alice.client(api.containers.undoEdit, { id })).entity;
  const refusal = async (id: number, change: Edit): Promise<Record<string, string>> => {
    const error = await edit(id, change).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CallError);
    expect((error as CallError).status).toBe(400);
    return fieldErrors(error);
  };
  /** The desired state that has this specification. */
  const wantsSpec = (id: number, specNo: number, gen = 0) =>
    at.daemon.desired(({ containers }) =>
      containers.some((one) => one.id === id && one.specNo === specNo && one.gen >= gen),
    );
  const wantedOf = async (id: number, specNo: number, gen = 0) =>
    (await wantsSpec(id, specNo, gen)).containers.find((one) => one.id === id)!;
  const shownOf = (id: number) => at.daemon.inventory.containers.find((one) => one.id === id)!;
  const reports = (id: number, gen: number, phase: 'pulling' | 'stopping', fraction: number | null = null) =>
    at.daemon.send({ type: 'progress', containerId: id, gen, phase, detail: 'image', fraction });
  const fails = (id: number, gen: number, permanent: boolean) =>
    at.daemon.send({
      type: 'failed',
      containerId: id,
      gen,
      phase: 'pull',
      message: 'nowhere/wrong was not found in its registry',
      permanent,
      attempt: 1,
      ...(permanent ? {} : { retryInMs: 60_000 }),
    });

  it('keeps the old one running until the new one runs, with one more specification number', async () => {
    const { id, slug } = await running({ env: [{ name: 'KEPT', value: 'canary-1' }], cpus: 0.5 });
    const changed = await edit(id, { dockerImage: 'busybox:2', env: [{ name: 'KEPT' }, { name: 'NEW', value: 'x' }] });
    expect(changed).toMatchObject({ id, slug, status: 'running', dockerImage: 'busybox:2', failedStep: null });
    expect(changed.pendingEdit).toMatchObject({ progress: null, failedStep: null });
    const target = await wantedOf(id, 2);
    expect(target).toMatchObject({
      state: 'running',
      gen: 2,
      spec: {
        image: 'busybox:2',
        env: [
          { name: 'KEPT', value: 'canary-1' },
          { name: 'NEW', value: 'x' },
        ],
      },
    });
    reports(id, target.gen, 'pulling', 0.5);
    await expect
      .poll(async () => (await view(id)).pendingEdit?.progress)
      .toMatchObject({ phase: 'pulling', fraction: 0.5 });
    expect(await statusOf(id)).toBe('running');
    reports(id, target.gen, 'stopping');
    await expect.poll(() => statusOf(id)).toBe('rebooting');
    const before = shownOf(id);
    at.daemon.inventory.containers = [
      { ...before, state: 'exited', exitCode: 137, finishedAt: new Date().toISOString() },
    ];
    at.daemon.sendInventory();
    at.daemon.inventory.containers = [];
    at.daemon.sendInventory();
    at.daemon.inventory.containers = [before];
    at.daemon.applyDesired(await wantsSpec(id, 2));
    await expect.poll(async () => (await view(id)).pendingEdit).toBeNull();
    expect(await view(id)).toMatchObject({ status: 'running', statusReason: null, envNames: ['KEPT', 'NEW'] });
    const { applied_spec, desired } = await rowOf(id);
    expect({ applied_spec, desired }).toEqual({ applied_spec: null, desired: 'running' });
  });

  it('recreates nothing for a title, and nothing for a change to what is there', async () => {
    const container = await running();
    const { id } = container;
    const titled = await edit(id, { title: 'Another name' });
    expect(titled).toMatchObject({ title: 'Another name', pendingEdit: null });
    const { dockerImage, cpus, restartPolicy, portMappings } = container;
    const same = await edit(id, { dockerImage, cpus, restartPolicy, portMappings, memoryGb: null, command: '  ' });
    expect(same.pendingEdit).toBeNull();
    expect(await rowOf(id)).toMatchObject({ spec_no: 1, gen: 1 });
  });

  it('recreates for ports that are bound otherwise than their visibility says, and only once', async () => {
    const { id, ...container } = await running({
      portMappings: [
        { host: 8090, container: 80, visibility: 'public' },
        { host: 8091, container: 81 },
      ],
    });
    const boundAs = async () =>
      (await view(id)).portMappings.map((port) => `${port.visibility}, bound ${port.boundAs}`);
    const ports = (first: 'private' | 'public') =>
      at.alice.client(api.containerAccess.editPorts, {
        ref: { id },
        portMappings: [{ host: 8090, visibility: first }],
      });
    expect(await boundAs()).toEqual(['public, bound public', 'private, bound private']);
    await ports('private');
    expect(await boundAs()).toEqual(['private, bound public', 'private, bound private']);

    // Names alone interrupt nothing.
    expect((await edit(id, { title: 'Another name' })).pendingEdit).toBeNull();
    expect((await edit(id, {})).pendingEdit).not.toBeNull();
    // While the change is under way, there is nothing more to change.
    await edit(id, { cpus: container.cpus });
    expect(await rowOf(id)).toMatchObject({ spec_no: 2 });
    const target = await wantedOf(id, 2);
    expect(target.spec.ports).toEqual([
      { host: 8090, container: 80, public: false },
      { host: 8091, container: 81, public: false },
    ]);
    at.daemon.applyDesired(await wantsSpec(id, 2));
    await expect.poll(async () => (await view(id)).pendingEdit).toBeNull();
    expect(await boundAs()).toEqual(['private, bound private', 'private, bound private']);
    expect((await edit(id, {})).pendingEdit).toBeNull();

    await ports('public');
    const { portMappings } = await view(id);
    await edit(id, { portMappings: portMappings.map(({ boundAs: _, ...port }) => port) });
    at.daemon.applyDesired(await wantsSpec(id, 3));
    await expect.poll(boundAs).toEqual(['public, bound public', 'private, bound private']);
  });

  it('recreates one that lacks a protection, and only once', async () => {
    const { id } = await running({ directoryMappings: [{ host: '/data/x', container: '/x' }] });
    const unprotected = async () => (await view(id)).unprotected;
    expect(await unprotected()).toBeNull();
    // As a daemon reports what an earlier one has created.
    Object.assign(shownOf(id), { protections: [] });
    at.daemon.sendInventory();
    await expect.poll(unprotected).toEqual({ until: 'recreated', lacks: ['network', 'volumes'] });
    Object.assign(shownOf(id), { protections: ['network'] });
    at.daemon.sendInventory();
    await expect.poll(unprotected).toEqual({ until: 'recreated', lacks: ['volumes'] });

    expect((await edit(id, { title: 'Another name' })).pendingEdit).toBeNull();
    expect((await edit(id, {})).pendingEdit).not.toBeNull();
    at.daemon.applyDesired(await wantsSpec(id, 2));
    await expect.poll(unprotected).toBeNull();
    expect((await edit(id, {})).pendingEdit).toBeNull();
    expect(await rowOf(id)).toMatchObject({ spec_no: 2 });
  });

  it('says of a server with an older agent that a newer one is needed first, and recreates nothing for it', async () => {
    await at.daemon.close();
    at.daemon = await connectDaemon(at.app.url, await join(at.server), { features: [EDIT_FEATURE] });
    const { id } = await create();
    const state = await at.daemon.desired(({ containers }) => containers.some((one) => one.id === id));
    expect((await view(id)).unprotected, 'before it exists').toBeNull();
    at.daemon.applyDesired(state);
    Object.assign(shownOf(id), { protections: undefined });
    at.daemon.sendInventory();
    await expect.poll(() => statusOf(id)).toBe('running');
    // It has no volumes.
    expect((await view(id)).unprotected).toEqual({ until: 'newer agent', lacks: ['network'] });
    expect((await edit(id, {})).pendingEdit).toBeNull();
  });

  it('does not make a port public again when a change is undone', async () => {
    const { id } = await running({ portMappings: [{ host: 8092, container: 80, visibility: 'public' }] });
    await edit(id, { dockerImage: 'nowhere/wrong' });
    await at.alice.client(api.containerAccess.editPorts, {
      ref: { id },
      portMappings: [{ host: 8092, visibility: 'private' }],
    });
    expect(await undo(id)).toMatchObject({ dockerImage: 'busybox', portMappings: [{ visibility: 'private' }] });
  });

  it('shows a failed pull beside the running container, tries again, and goes back without touching it', async () => {
    const { id } = await running({ command: 'sleep 1', env: [{ name: 'A', value: 'canary-2' }] });
    await edit(id, { dockerImage: 'nowhere/wrong', command: null, env: [] });
    const first = await wantedOf(id, 2);
    fails(id, first.gen, true);
    const failedStep = { phase: 'pull', cause: 'nowhere/wrong was not found in its registry', final: true };
    await expect.poll(async () => (await view(id)).pendingEdit?.failedStep).toMatchObject(failedStep);
    expect(await view(id)).toMatchObject({ status: 'running', statusReason: null, failedStep: null });

    const again = await edit(id, {});
    expect(again.pendingEdit).toMatchObject({ failedStep: null });
    const second = await wantedOf(id, 2, first.gen + 1);
    fails(id, second.gen, false);
    await expect
      .poll(async () => (await view(id)).pendingEdit?.failedStep)
      .toMatchObject({ final: false, attempts: 1 });
    expect(await statusOf(id)).toBe('running');

    expect(await undo(id)).toMatchObject({ dockerImage: 'busybox', command: 'sleep 1', envNames: ['A'] });
    const back = await wantedOf(id, 1, second.gen + 1);
    expect(back.spec).toMatchObject({ image: 'busybox', env: [{ name: 'A', value: 'canary-2' }] });
    const { dockerId } = shownOf(id);
    at.daemon.applyDesired(await wantsSpec(id, 1, back.gen));
    await expect.poll(async () => (await view(id)).pendingEdit).toBeNull();
    expect(shownOf(id).dockerId).toBe(dockerId);
    await expect(undo(id)).rejects.toMatchObject({ message: 'It has no change to undo' });
    // A number is never used for two specifications.
    await edit(id, { cpus: 0.2 });
    expect(await rowOf(id)).toMatchObject({ spec_no: 3 });
  });

  it('can be undone when the new one cannot be started', async () => {
    const { id } = await running();
    await edit(id, { command: '/no/such' });
    const { gen } = await wantedOf(id, 2);
    reports(id, gen, 'stopping');
    await expect.poll(() => statusOf(id)).toBe('rebooting');
    at.daemon.send({ type: 'failed', containerId: id, gen, phase: 'start', message: 'not found', permanent: true });
    await expect.poll(() => view(id)).toMatchObject({ status: 'failed', statusReason: 'not found' });
    expect((await view(id)).pendingEdit?.failedStep).toMatchObject({ phase: 'start', final: true });
    await undo(id);
    at.daemon.inventory.containers = [{ ...shownOf(id), specNo: 2, state: 'created', startedAt: null }];
    at.daemon.applyDesired(await wantsSpec(id, 1, gen + 1));
    await expect.poll(() => view(id)).toMatchObject({ status: 'running', pendingEdit: null, command: null });
  });

  it('leaves a stopped container stopped', async () => {
    const { id } = await running();
    await at.alice.client(api.containers.stop, { id });
    at.daemon.applyDesired(await at.daemon.desired(({ containers }) => containers.some((one) => one.gen === 2)));
    await expect.poll(() => statusOf(id)).toBe('stopped');
    await edit(id, { cpus: 0.2 });
    const target = await wantedOf(id, 2);
    expect(target.state).toBe('stopped');
    at.daemon.inventory.containers = [{ ...shownOf(id), specNo: 2, dockerId: 'new', state: 'created', exitCode: null }];
    at.daemon.sendInventory();
    await expect.poll(() => view(id)).toMatchObject({ status: 'stopped', pendingEdit: null, cpus: 0.2 });
  });

  it('changes what is being created, and creates what could not be created', async () => {
    const { id } = await create({ dockerImage: 'nowhere/wrong', env: [{ name: 'SECRET', value: 'canary-3' }] });
    const first = await wantedOf(id, 1);
    fails(id, first.gen, true);
    await expect.poll(() => statusOf(id)).toBe('creation failed');
    const again = await edit(id, { dockerImage: 'busybox' });
    expect(again).toMatchObject({ status: 'creating', pendingEdit: null, failedStep: null, statusReason: null });
    const second = await wantedOf(id, 2);
    expect(second).toMatchObject({ state: 'running', spec: { image: 'busybox', env: [{ value: 'canary-3' }] } });
    const third = await edit(id, { cpus: 0.3 });
    expect(third).toMatchObject({ status: 'creating', pendingEdit: null });
    at.daemon.applyDesired(await wantsSpec(id, 3));
    await expect.poll(() => statusOf(id)).toBe('running');
  });

  it('refuses at the field what creating refuses, and keeps everything', async () => {
    const { id } = await running();
    const other = await running({ gpuIds: [1], portMappings: [{ host: 8081, container: 80 }], cpus: 2 });
    const deny: [Edit, Record<string, string>][] = [
      [{ cpus: 2.1 }, { cpus: 'CPUs: only 2 are free on this server' }],
      [{ gpuIds: [1] }, { gpuIds: 'GPU 1 is in use by another container' }],
      [{ gpuIds: [5] }, { gpuIds: 'This server has no free GPU 5' }],
      [{ memoryGb: 8.5 }, { memoryGb: 'This server allows at most 8.0 GB' }],
      [
        { portMappings: [{ host: 8081, container: 1 }] },
        { 'portMappings.0.host': 'Port 8081 is in use on this server' },
      ],
      [{ portMappings: [{ host: 80, container: 1 }] }, { 'portMappings.0.host': 'Port must be between 1000 and 9999' }],
      [{ command: 'echo "open' }, { command: 'The command has a double quote that is not closed' }],
      [{ title: ' ' }, { title: 'Name is required' }],
      [{ dockerImage: '--privileged' }, { dockerImage: 'Enter an image like name:tag or registry/name:tag' }],
      [{ env: [{ name: 'NEW' }] }, { 'env.0.value': 'Value is required' }],
      [
        { directoryMappings: [{ host: '/etc', container: '/x' }] },
        { 'directoryMappings.0.host': 'This directory of the server cannot be mounted' },
      ],
      [{ shmMb: 2048, memoryGb: 1 }, { shmMb: 'Shared memory must not be larger than the memory' }],
      [{ healthCheck: { command: '' } }, { 'healthCheck.command': 'Command is required' }],
      [
        { healthCheck: { command: 'true', retries: 0 } },
        { 'healthCheck.retries': 'Retries must be a whole number from 1 to 20' },
      ],
    ];
    const before = await view(id);
    for (const [change, messages] of deny)
      expect(await refusal(id, { title: 'Lost', ...change }), JSON.stringify(change)).toEqual(messages);
    console.log(`refused edits: n = ${deny.length}`);
    expect({ ...(await view(id)), statusSeenAt: null }).toEqual({ ...before, statusSeenAt: null });
    // What it holds itself is free for it.
    await edit(other.id, { cpus: 3.9, gpuIds: [1, 0], portMappings: [{ host: 8081, container: 81 }] });
  });

  it('keeps for a container what it has until the change is made', async () => {
    const { id } = await running({ gpuIds: [0], portMappings: [{ host: 8085, container: 80 }], cpus: 3 });
    await edit(id, { gpuIds: [], portMappings: [], cpus: 1 });
    for (const taken of [{ gpuIds: [0] }, { portMappings: [{ host: 8085, container: 1 }] }, { cpus: 2 }])
      await expect(create(taken)).rejects.toMatchObject({ status: 400 });
    at.daemon.applyDesired(await wantsSpec(id, 2));
    await expect.poll(async () => (await view(id)).pendingEdit).toBeNull();
    await create({ gpuIds: [0], portMappings: [{ host: 8085, container: 1 }], cpus: 2 });
  });

  it('gives two edits at once two numbers, one after the other', async () => {
    const { id } = await running();
    const cpus = Array.from({ length: 8 }, (_, index) => 0.2 + index / 10);
    await Promise.all(cpus.map((more) => edit(id, { cpus: Math.round(more * 10) / 10 })));
    const row = await rowOf(id);
    expect(row).toMatchObject({ spec_no: 9, last_spec_no: 9, gen: 9 });
    expect(row.applied_spec).toMatchObject({ specNo: 1, cpus: 0.1 });
    const target = await wantedOf(id, 9);
    expect(target.spec.nanoCpus).toBe(Math.round(Number(row.cpus) * 1e9));
    const takers = await Promise.allSettled([
      ...[1, 2, 3].map((n) => edit(id, { portMappings: [{ host: 7000, container: n }] })),
      ...[1, 2, 3].map(() => create({ portMappings: [{ host: 7000, container: 80 }] })),
    ]);
    const edits = takers.slice(0, 3).filter(({ status }) => status === 'fulfilled').length;
    const creations = takers.slice(3).filter(({ status }) => status === 'fulfilled').length;
    expect([
      [3, 0],
      [0, 1],
    ]).toContainEqual([edits, creations]);
    console.log(`edits at once: n = ${cpus.length + takers.length}`);
  });

  it('is allowed and refused by status alike in rules and call', async () => {
    const outcomes: string[] = [];
    for (const status of Object.keys(CONTAINER_MOVES) as ContainerStatus[]) {
      if (status === 'deleted') continue;
      const { id } = await create();
      const deadline = new Date(Date.now() + 600_000);
      await at.app.ctx.db.transaction().execute(async (trx) => {
        await sql`set local session_replication_role = replica`.execute(trx);
        await trx.updateTable('container').set({ status, status_deadline: deadline }).where('id', '=', id).execute();
      });
      const verdict = containerCan.edit(await view(id));
      const outcome = await edit(id, { cpus: 0.2 }).then(
        () => null,
        (error: Error) => error.message,
      );
      expect(outcome, status).toBe(verdict.allowed ? null : verdict.reason);
      outcomes.push(`${status}: ${outcome ?? 'edited'}`);
      await at.app.ctx.db.updateTable('container').set({ deleted_at: new Date() }).where('id', '=', id).execute();
    }
    expect(outcomes).toEqual([
      'creating: edited',
      'creation failed: edited',
      'starting: Wait until it has started or stopped',
      'running: edited',
      'stopping: Wait until it has started or stopped',
      'stopped: edited',
      'rebooting: Wait until it has started or stopped',
      'exited: edited',
      'failed: edited',
      'unresponsive: Wait until it has started or stopped',
      'terminating: This container is already being deleted',
    ]);
  });

  it('needs a server that is online and a daemon that can edit', async () => {
    const old = await aRentedInstance(at.app.ctx, at.alice);
    const oldDaemon = await connectDaemon(at.app.url, await join(old));
    const { id } = await create({ instanceRef: { id: old } });
    oldDaemon.applyDesired(await oldDaemon.desired(({ containers }) => containers.length > 0));
    await expect.poll(() => statusOf(id)).toBe('running');
    await expect(edit(id, { cpus: 0.2 })).rejects.toMatchObject({
      message: 'The agent of this server is too old for this: install it again',
    });
    expect(await edit(id, { title: 'New name' })).toMatchObject({ title: 'New name', pendingEdit: null });
    await oldDaemon.close();
  });

  it('is refused to other workspaces, for both calls', async () => {
    const { id } = await running();
    const mallory = await at.app.signUp();
    const notFound = { status: 404 };
    await expect(mallory.client(api.containers.edit, { ref: { id }, cpus: 0.2 })).rejects.toMatchObject(notFound);
    await expect(mallory.client(api.containers.undoEdit, { id })).rejects.toMatchObject(notFound);
  });

  const rowOf = (id: number) =>
    at.app.ctx.db.selectFrom('container').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
});
