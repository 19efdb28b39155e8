import { api } from '@stagi/contract/api.ts';
import { IMAGES_FEATURE } from '@stagi/contract/daemon.ts';
import { describe, expect, it } from 'vitest';
import { readyServer } from '../containers/testing/readyServer.ts';
import { connectDaemon, type TestDaemon } from '../testing/daemon.ts';
import { aSelfHostedServer } from '../testing/factories.ts';

const IMAGE = { sizeBytes: 5e6, createdAt: '2026-01-01T00:00:00.000Z' };

describe('images on a server', () => {
  const { at, join, create } = readyServer();

  /** An own server whose daemon removes images, and has these. */
  async function ownServer(images: { reference: string; ours: boolean }[], features = [IMAGES_FEATURE]) {
    const id = await aSelfHostedServer(at.app.ctx, at.alice);
    const daemon = await connectDaemon(at.app.url, await join(id, 'self-hosted'), { features });
    daemon.inventory.images = images.map((image) => ({ ...IMAGE, ...image }));
    daemon.sendInventory();
    const list = () => at.alice.client(api.serverImages.list, { instanceRef: { id } });
    await expect.poll(async () => (await list()).entities.length).toBe(images.length);
    return { id, daemon, list };
  }
  const answer = (daemon: TestDaemon, commandId: string, more: object) =>
    daemon.send({ type: 'result', commandId, ok: true, message: null, ...more });

  it('are listed with who uses them, and with whether they can be removed', async () => {
    const { id, daemon, list } = await ownServer([
      { reference: 'busybox:latest', ours: true },
      { reference: 'mine:1', ours: false },
    ]);
    const container = await create({ instanceRef: { id }, gpuIds: [], dockerImage: 'docker.io/library/busybox' });
    const { entities } = await list();
    expect(entities).toEqual([
      { ...IMAGE, reference: 'busybox:latest', ours: true, usedBy: [{ id: container.id, title: 'Job' }] },
      { ...IMAGE, reference: 'mine:1', ours: false, usedBy: [] },
    ]);
    // Until it is gone from the server.
    await at.alice.client(api.containers.delete, { id: container.id });
    expect((await list()).entities[0]?.usedBy).toEqual([{ id: container.id, title: 'Job' }]);
    await daemon.close();
  });

  it('are removed by a command, whose outcome the list tells', async () => {
    const { id, daemon, list } = await ownServer([{ reference: 'old:1', ours: true }]);
    const { operation } = await at.alice.client(api.serverImages.remove, {
      instanceRef: { id },
      reference: 'docker.io/library/old:1',
    });
    expect(operation).toMatchObject({ kind: 'remove', reference: 'old:1', state: 'waiting', freedBytes: null });
    const command = await daemon.command();
    expect(command.do).toEqual({ kind: 'image-remove', reference: 'old:1' });
    answer(daemon, command.id, { outcome: { references: ['old:1'], bytes: 5e6 } });
    await expect
      .poll(async () => (await list()).operations[0])
      .toMatchObject({ id: operation.id, state: 'done', references: ['old:1'], freedBytes: 5e6 });
    await daemon.close();
  });

  it('are not removed while a container uses them, nor where they are not ours', async () => {
    const { id, daemon } = await ownServer([
      { reference: 'busybox:latest', ours: true },
      { reference: 'mine:1', ours: false },
    ]);
    await create({ instanceRef: { id }, gpuIds: [], title: 'Web' });
    const remove = (reference: string) => at.alice.client(api.serverImages.remove, { instanceRef: { id }, reference });
    await expect(remove('busybox')).rejects.toMatchObject({ status: 200, message: 'In use by “Web”' });
    await expect(remove('mine:1')).rejects.toMatchObject({
      status: 200,
      message: 'Only images that containers of Stagi were made of can be removed here',
    });
    await expect(remove('nowhere:1')).rejects.toMatchObject({ status: 404 });
    const { rows } = { rows: await at.app.ctx.db.selectFrom('daemon_command').where('instance_id', '=', id).execute() };
    expect(rows).toEqual([]);
    await daemon.close();
  });

  it('are pruned after a preview, and a refusal of the server is told', async () => {
    const { id, daemon, list } = await ownServer([{ reference: 'old:1', ours: true }]);
    const ask = (dryRun: boolean) => at.alice.client(api.serverImages.prune, { instanceRef: { id }, dryRun });
    await ask(true);
    const preview = await daemon.command(({ do: what }) => what.kind === 'image-prune' && what.dryRun);
    answer(daemon, preview.id, { outcome: { references: ['old:1'], bytes: 7 } });
    await expect
      .poll(async () => (await list()).operations[0])
      .toMatchObject({ kind: 'preview', state: 'done', freedBytes: 7 });
    await ask(false);
    const prune = await daemon.command(({ do: what }) => what.kind === 'image-prune' && !what.dryRun);
    answer(daemon, prune.id, { ok: false, message: 'Docker is not responding' });
    await expect
      .poll(async () => (await list()).operations[0])
      .toMatchObject({ kind: 'prune', state: 'refused', message: 'Docker is not responding', references: [] });
    await daemon.close();
  });

  it('stay where the agent is too old, and where the server is away', async () => {
    const { id, daemon } = await ownServer([{ reference: 'old:1', ours: true }], []);
    const prune = () => at.alice.client(api.serverImages.prune, { instanceRef: { id }, dryRun: true });
    await expect(prune()).rejects.toMatchObject({
      status: 200,
      message: 'The agent of this server is too old for this: install it again',
    });
    await at.app.ctx.db.updateTable('instance').set({ status: 'unresponsive' }).where('id', '=', id).execute();
    await expect(prune()).rejects.toMatchObject({ status: 200, message: 'Its server must be online' });
    await daemon.close();
  });

  it('are shown layer by layer while they are pulled', async () => {
    const { id } = await create();
    const layers = [
      { id: 'a1', status: 'done', current: 5, total: 5 },
      { id: 'b2', status: 'downloading', current: 1, total: 8 },
      { id: 'c3', status: 'waiting', current: 0, total: null },
    ] as const;
    at.daemon.send({
      type: 'progress',
      containerId: id,
      gen: 1,
      phase: 'pulling',
      detail: '6 of 13 MB',
      fraction: 0.4,
      layers: [...layers],
    });
    await expect
      .poll(async () => (await at.alice.client(api.containers.view, { id })).entity.progress)
      .toEqual({ phase: 'pulling', detail: '6 of 13 MB', fraction: 0.4, layers });
  });

  it('of another workspace are not found, and acts are written to the audit log with their server', async () => {
    const { id, daemon } = await ownServer([{ reference: 'old:1', ours: true }]);
    const mallory = await at.app.signUp();
    const input = { instanceRef: { id }, reference: 'old:1' };
    const notFound = { status: 404 };
    await expect(mallory.client(api.serverImages.list, input)).rejects.toMatchObject(notFound);
    await expect(mallory.client(api.serverImages.remove, input)).rejects.toMatchObject(notFound);
    const prune = mallory.client(api.serverImages.prune, { ...input, dryRun: true });
    await expect(prune).rejects.toMatchObject(notFound);
    await at.alice.client(api.serverImages.remove, input);
    const { entities } = await at.alice.client(api.audit.list, {});
    expect(entities[0]).toMatchObject({
      action: 'docker-container/image/remove',
      outcome: 'done',
      object: { type: 'self-hosted-instance', id: String(id), label: expect.stringMatching(/^own-/) },
      detail: { reference: 'old:1' },
    });
    const refused = at.alice.client(api.serverImages.prune, { instanceRef: { id: at.server }, dryRun: false });
    await expect(refused).rejects.toMatchObject({ status: 200 });
    expect((await at.alice.client(api.audit.list, {})).entities[0]).toMatchObject({
      action: 'docker-container/image/prune',
      outcome: 'refused',
      object: { type: 'instance-rented', id: String(at.server), label: expect.stringMatching(/^server-/) },
    });
    // The name of somebody else's server does not get into the log of those who guess its id.
    const [guessed] = (await mallory.client(api.audit.list, {})).entities;
    expect(guessed).toMatchObject({ outcome: 'refused', object: { id: String(id), label: null } });
    await daemon.close();
  });
});
