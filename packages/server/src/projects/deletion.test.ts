import { access } from 'node:fs/promises';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { readyServer } from '../containers/testing/readyServer.ts';
import { anApiToken, anImport } from '../testing/factories.ts';
import { beginBackup } from '../testing/runningBackup.ts';
import { aPlacedRun } from '../testing/taskFactories.ts';
import { repositoryPath } from './gitAccess.ts';

const FAST = { interval: 25, timeout: 60_000 };

describe('deleting a project', () => {
  const { at, running, create, wanted, statusOf } = readyServer();
  let id: number;
  let slug: string;
  let dir: string;
  let n = 0;
  beforeEach(async () => {
    n += 1;
    ({ id, slug } = (await at.alice.client(api.projects.create, { title: 'Vision', slug: `vision-${n}` })).entity);
    dir = await repositoryPath(at.app.ctx, id);
  });

  const view = async () => (await at.alice.client(api.projects.view, { id })).entity;
  const remove = (slugTyped = slug) => at.alice.client(api.projects.delete, { id, slugTyped });
  const exists = () =>
    access(dir).then(
      () => true,
      () => false,
    );

  it('needs its Unique ID typed', async () => {
    await expect(remove('vision')).rejects.toMatchObject({
      status: 400,
      body: { message: 'This is not the Unique ID of the project', fieldsWithError: ['slugTyped'] },
    });
    expect((await view()).status).not.toBe('deleting');
  });

  it('names what dies, waits until its containers are seen gone, and then removes the repository', async () => {
    const container = await running({ projectRef: { id } });
    const other = await running();
    expect(container.project).toEqual({ id, slug, title: 'Vision' });
    await at.alice.client(api.projects.attachInstance, { projectRef: { id }, instanceRef: { id: at.server } });
    expect(await at.alice.client(api.projects.viewDeletion, { id })).toEqual({
      isSuccess: true,
      sizeBytes: 0,
      containers: [
        {
          id: container.id,
          slug: container.slug,
          title: container.title,
          status: 'running',
          instance: expect.objectContaining({ id: at.server }),
          canManage: true,
        },
      ],
      containerCount: 1,
      taskCount: 0,
      refusal: null,
    });

    expect((await remove()).entity).toMatchObject({ status: 'deleting', statusDeadline: expect.any(String) });
    expect(await statusOf(container.id)).toBe('terminating');
    await expect
      .poll(async () => (await view()).statusReason, FAST)
      .toMatch(/^Waiting until its container “Job” on “.+” is gone$/);
    expect(await exists()).toBe(true);
    await expect(remove()).rejects.toMatchObject({ body: { message: 'This project is being deleted' } });

    at.daemon.applyDesired(await wanted(container.id, 'absent'));
    await expect.poll(async () => (await view()).status, FAST).toBe('deleted');
    expect(await exists()).toBe(false);
    expect(await statusOf(other.id)).toBe('running');
    const { entities } = await at.alice.client(api.projects.list, { entityFilterRequest: { queryString: slug } });
    expect(entities).toEqual([]);
    expect((await at.alice.client(api.projects.create, { title: 'Again', slug })).entity.id).not.toBe(id);
  });

  it('fails with the reason when a container is not seen gone in time, and may be tried again', async () => {
    const container = await running({ projectRef: { id } });
    await remove();
    await sql`update project set status_deadline = now() - interval '1 second', next_at = now() where id = ${id}`.execute(
      at.app.ctx.db,
    );
    await expect
      .poll(() => view(), FAST)
      .toMatchObject({
        status: 'deletion failed',
        statusReason: expect.stringMatching(/^Its container “Job” on “.+” was not seen gone in time$/),
      });
    expect(await exists()).toBe(true);
    expect((await remove()).entity.status).toBe('deleting');
    at.daemon.applyDesired(await wanted(container.id, 'absent'));
    await expect.poll(async () => (await view()).status, FAST).toBe('deleted');
  });

  it('is refused to whoever may not manage one of its containers', async () => {
    const container = await running({ projectRef: { id } });
    const { token } = await anApiToken(at.app.ctx, at.alice, { permissions: ['PROJECT_MANAGEMENT'] });
    const asLimited = { authorization: `Bearer ${token}`, 'x-client-id': String(at.alice.workspaceId) };
    const refusal = expect.stringMatching(/^You may not delete its container “Job” on “.+”$/);
    expect(await at.app.post('project/deletion/view', { id }, asLimited)).toMatchObject({
      body: { containers: [{ id: container.id, canManage: false }], refusal },
    });
    expect(await at.app.post('project/delete', { id, slugTyped: slug }, asLimited)).toMatchObject({
      status: 200,
      body: { isSuccess: false, message: refusal },
    });
    expect(await statusOf(container.id)).toBe('running');
    expect((await view()).status).toBe('active');
  });

  it('takes tasks along: their containers are left to their worker, and ask for no permission', async () => {
    const { taskId, containerId } = await aPlacedRun(at.app.ctx, at.alice, { project_id: id, instance_id: at.server });
    await at.app.ctx.db.updateTable('container').set({ project_id: id }).where('id', '=', containerId).execute();
    const { token } = await anApiToken(at.app.ctx, at.alice, { permissions: ['PROJECT_MANAGEMENT'] });
    const asLimited = { authorization: `Bearer ${token}`, 'x-client-id': String(at.alice.workspaceId) };
    expect(await at.app.post('project/deletion/view', { id }, asLimited)).toMatchObject({
      body: { containers: [], containerCount: 0, taskCount: 1, refusal: null },
    });
    expect(await at.app.post('project/delete', { id, slugTyped: slug }, asLimited)).toMatchObject({
      status: 200,
      body: { isSuccess: true, entity: { status: 'deleting', taskCount: 1 } },
    });
    // What it has put out is saved before.
    await expect
      .poll(async () => (await at.alice.client(api.tasks.view, { id: taskId })).entity, FAST)
      .toMatchObject({ status: 'canceling', statusReason: 'Its project was deleted' });
    expect((await view()).status).toBe('deleting');
  });

  it('lets no container in that is created at the same time', async () => {
    const answers = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => create({ projectRef: { id } })),
      remove(),
    ]);
    const made = answers.slice(0, 4).flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(answers[4]!.status).toBe('fulfilled');
    for (const { id: container } of made as { id: number }[])
      expect.soft(['terminating', 'deleted']).toContain(await statusOf(container));
    await expect(create({ projectRef: { id } })).rejects.toMatchObject({
      status: 400,
      body: { fieldsWithError: ['projectRef'] },
    });
    console.log(`containers created while their project is deleted: n = 4, ${made.length} made and ended`);
  });

  it('ends its import first', async () => {
    const { ctx } = at.app;
    const job = await anImport(ctx, id);
    await sql`update project_import set lock_token = gen_random_uuid(), lock_expires_at = now() + interval '1 hour'
      where id = ${job}`.execute(ctx.db);
    expect((await remove()).entity.import).toMatchObject({ status: 'failed', error: 'The project was deleted' });
    await expect.poll(async () => (await view()).statusReason, FAST).toBe('Waiting until its import has stopped');
    expect(await exists()).toBe(true);
    await sql`update project_import set lock_token = null, lock_expires_at = null where id = ${job}`.execute(ctx.db);
    await expect.poll(async () => (await view()).status, FAST).toBe('deleted');
    expect(await exists()).toBe(false);
  });

  it('waits until a backup has ended, also beyond its deadline', async () => {
    const backup = await beginBackup(at.app.databaseUrl);
    await remove();
    await expect.poll(async () => (await view()).statusReason, FAST).toBe('Waiting until a backup has ended');
    const { rows } = await sql<{ at: string }>`update project set next_at = now(),
      status_deadline = now() - interval '1 second' where id = ${id} returning clock_timestamp()::text as at`.execute(
      at.app.ctx.db,
    );
    const looks = () =>
      sql<{ status: string; attempts: number }>`select status, attempts from project
      where id = ${id} and status_seen_at > ${rows[0]!.at}::timestamptz`.execute(at.app.ctx.db);
    await expect.poll(async () => (await looks()).rows, FAST).toEqual([{ status: 'deleting', attempts: 0 }]);
    expect(await exists()).toBe(true);
    await backup.end();
    await expect.poll(async () => (await view()).status, FAST).toBe('deleted');
    expect(await exists()).toBe(false);
  });
});
