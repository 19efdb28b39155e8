import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { readyServer } from '../containers/testing/readyServer.ts';
import { anApiToken, anImport, aProject, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

describe('the servers and containers of a project', () => {
  const { at, running, create, request } = readyServer();
  let id: number;
  beforeEach(async () => {
    id = await aProject(at.app.ctx, at.alice);
  });

  const attach = (instance: number, by: Person = at.alice) =>
    by.client(api.projects.attachInstance, { projectRef: { id }, instanceRef: { id: instance } });
  const detach = (instance: number) =>
    at.alice.client(api.projects.detachInstance, { projectRef: { id }, instanceRef: { id: instance } });
  const list = async (request: object = {}) =>
    at.alice.client(api.projects.instances, { projectRef: { id }, entityFilterRequest: request });

  it('are attached and detached, rented or self-hosted, and their activity names them', async () => {
    const own = await aSelfHostedServer(at.app.ctx, at.alice);
    await attach(at.server);
    await attach(own);
    await attach(own);
    const { entities, totalCount } = await list({ orderByField: 'kind', orderByDirection: 'asc' });
    expect(totalCount).toBe(2);
    expect(entities).toMatchObject([
      { instance: { id: at.server, kind: 'rented', status: 'online' }, attachedBy: expect.any(String) },
      { instance: { id: own, kind: 'self-hosted' } },
    ]);
    expect((await at.alice.client(api.projects.view, { id })).entity.instanceCount).toBe(2);
    await detach(own);
    await detach(own);
    expect((await list()).totalCount).toBe(1);
    const activity = await at.alice.client(api.projects.activity, { projectRef: { id } });
    expect(activity.entities.map(({ kind, instance }) => [kind, instance?.id])).toEqual([
      ['instance detached', own],
      ['instance attached', own],
      ['instance attached', at.server],
    ]);
    const { entities: acts } = await at.alice.client(api.audit.list, {
      entityFilterRequest: { queryString: 'project/instance/detach', statuses: ['done'] },
    });
    expect(acts[0]).toMatchObject({ action: 'project/instance/detach', object: { type: 'project', id: String(id) } });
  });

  it('are not shown once they are terminated, and forgotten later', async () => {
    const gone = await aRentedInstance(at.app.ctx, at.alice);
    await attach(gone);
    const { db } = at.app.ctx;
    await sql`update instance set closed_at = now() - interval '8 days' where id = ${gone}`.execute(db);
    expect((await list()).totalCount).toBe(0);
    await expect(attach(gone)).rejects.toMatchObject({
      body: { isSuccess: false, message: 'This server exists no more' },
    });
    await cleanUp(at.app.ctx);
    const left = await db.selectFrom('project_instance').selectAll().where('instance_id', '=', gone).execute();
    expect(left).toEqual([]);
  });

  it('are attached only by who may see them, and never those of another workspace', async () => {
    const { token } = await anApiToken(at.app.ctx, at.alice, { permissions: ['PROJECT_MANAGEMENT'] });
    const body = { projectRef: { id }, instanceRef: { id: at.server } };
    expect(
      await at.app.post('project/instance/attach', body, {
        authorization: `Bearer ${token}`,
        'x-client-id': String(at.alice.workspaceId),
      }),
    ).toMatchObject({ status: 404 });
    const bob = await at.app.signUp();
    const his = await aRentedInstance(at.app.ctx, bob);
    await expect(attach(his)).rejects.toMatchObject({ status: 404 });
    await expect(attach(at.server, bob)).rejects.toMatchObject({ status: 404 });
    expect((await list()).totalCount).toBe(0);
  });

  it('refuse changes in an archived project', async () => {
    await attach(at.server);
    await at.alice.client(api.projects.archive, { id });
    const message = 'This project is archived: it can only be read';
    for (const change of [() => attach(at.server), () => detach(at.server)])
      await expect(change()).rejects.toMatchObject({ body: { isSuccess: false, message } });
    await expect(create({ projectRef: { id } })).rejects.toMatchObject({
      status: 400,
      body: { message, fieldsWithError: ['projectRef'] },
    });
  });

  it('include the containers that were created in it', async () => {
    const inside = await running({ projectRef: { id } });
    const outside = await running();
    const { slug, title } = (await at.alice.client(api.projects.view, { id })).entity;
    const { entities } = await at.alice.client(api.containers.list, { projectRef: { slug } });
    expect(entities.map((one) => one.id)).toEqual([inside.id]);
    expect(entities[0]!.project).toEqual({ id, slug, title });
    expect((await at.alice.client(api.containers.view, { id: outside.id })).entity.project).toBeNull();
    expect((await at.alice.client(api.projects.view, { id })).entity.containerCount).toBe(1);
  });

  it('take no container into the project of another workspace, an absent or an unseen one', async () => {
    const bob = await at.app.signUp();
    const refused = {
      status: 400,
      body: { message: 'This project cannot be chosen', fieldsWithError: ['projectRef'] },
    };
    for (const projectRef of [{ id: await aProject(at.app.ctx, bob) }, { id: 999_999_999 }, { slug: 'no-such' }])
      await expect(create({ projectRef })).rejects.toMatchObject(refused);
    const { token } = await anApiToken(at.app.ctx, at.alice, { permissions: ['INSTANCE_RENTED_MANAGEMENT'] });
    const headers = {
      authorization: `Bearer ${token}`,
      'x-client-id': String(at.alice.workspaceId),
      'idempotency-key': `unseen-${id}`,
    };
    expect(await at.app.post('docker-container/create', request({ projectRef: { id } }), headers)).toMatchObject(
      refused,
    );
    expect(await at.app.post('docker-container/list', { projectRef: { id } }, headers)).toMatchObject({ status: 404 });
  });
});

describe('the clean-up', () => {
  const { at } = readyServer();

  it('keeps activity and imports for 400 days', async () => {
    const { db } = at.app.ctx;
    const id = await aProject(at.app.ctx, at.alice);
    for (const [kind, age] of [
      ['push', 399],
      ['archived', 401],
    ] as const) {
      await sql`insert into project_activity (project_id, kind, at)
        values (${id}, ${kind}, now() - make_interval(days => ${age}))`.execute(db);
      const old = await anImport(at.app.ctx, id, 'failed');
      await sql`update project_import set finished_at = now() - make_interval(days => ${age}) where id = ${old}`.execute(
        db,
      );
    }
    await cleanUp(at.app.ctx);
    const { entities } = await at.alice.client(api.projects.activity, { projectRef: { id } });
    expect(entities.map(({ kind }) => kind)).toEqual(['push']);
    expect(await db.selectFrom('project_import').selectAll().where('project_id', '=', id).execute()).toHaveLength(1);
  });
});
