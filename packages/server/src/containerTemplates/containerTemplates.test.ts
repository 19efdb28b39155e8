import { api } from '@stagi/contract/api.ts';
import { CreateContainer } from '@stagi/contract/containerFields.ts';
import { PlatformTemplate, suitsServer, type TemplateFields } from '@stagi/contract/containerTemplates.ts';
import { PLATFORM_TEMPLATES } from '@stagi/contract/platformTemplates.ts';
import { describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { splitCommand } from '../containers/splitCommand.ts';
import { readyServer } from '../containers/testing/readyServer.ts';

const REFUSED = { status: 200, body: { isSuccess: false } };

describe('templates of containers', () => {
  const { at, create, request, wanted } = readyServer();
  const list = async () => (await at.alice.client(api.containerTemplates.list, {})).entities;

  it('hold what a container is made of, and no value of a variable', async () => {
    const container = await create({
      command: 'serve --port 80',
      env: [{ name: 'TOKEN', value: 'canary-7d1e' }],
      cpus: 0.5,
      memoryGb: 1,
      gpuIds: [1],
      portMappings: [{ host: 8123, container: 80, visibility: 'public' }],
      directoryMappings: [{ host: '/data/set', container: '/set' }],
      restartPolicy: 'always',
    });
    const { entity } = await at.alice.client(api.containerTemplates.create, {
      containerRef: { id: container.id },
      title: ' Server of models ',
      description: 'What we serve with',
    });
    expect(entity).toMatchObject({
      title: 'Server of models',
      description: 'What we serve with',
      createdBy: expect.any(String),
      fields: {
        dockerImage: 'busybox',
        command: 'serve --port 80',
        env: [{ name: 'TOKEN', value: null }],
        cpus: 0.5,
        memoryGb: 1,
        gpuCount: 1,
        portMappings: [{ host: 8123, container: 80, visibility: 'public' }],
        directoryMappings: [{ host: '/data/set', container: '/set' }],
        restartPolicy: 'always',
      },
    });
    expect((await list()).map(({ id }) => id)).toContain(entity.id);
    const stored = await at.app.ctx.db.selectFrom('container_template').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain('canary');
  });

  it('have one title each in their workspace, and are deleted', async () => {
    const { id } = await create();
    const save = () => at.alice.client(api.containerTemplates.create, { containerRef: { id }, title: 'Twice' });
    const { entity } = await save();
    await expect(save()).rejects.toMatchObject({ status: 400, body: { fieldsWithError: ['title'] } });
    await at.alice.client(api.containerTemplates.delete, { id: entity.id });
    expect((await list()).map(({ title }) => title)).not.toContain('Twice');
    await expect(at.alice.client(api.containerTemplates.delete, { id: entity.id })).rejects.toMatchObject({
      status: 404,
    });
    await save();
  });

  it('are those of their workspace alone, and are written to its audit log', async () => {
    const { id } = await create();
    const { entity } = await at.alice.client(api.containerTemplates.create, { containerRef: { id }, title: 'Ours' });
    const bob = await at.app.signUp();
    expect((await bob.client(api.containerTemplates.list, {})).entities).toEqual([]);
    for (const attempt of [
      () => bob.client(api.containerTemplates.delete, { id: entity.id }),
      () => bob.client(api.containerTemplates.create, { containerRef: { id }, title: 'Mine' }),
    ])
      await expect(attempt()).rejects.toMatchObject({ status: 404 });
    const { entities } = await at.alice.client(api.audit.list, {});
    expect(entities.find(({ action }) => action === 'docker-container/template/create')).toMatchObject({
      outcome: 'done',
      object: { type: 'docker-container/template', id: String(entity.id), label: 'Ours' },
    });
  });

  it('are made by those who manage the server of the container', async () => {
    const { id } = await create();
    const guest = await at.app.signUp();
    await aMember(at.app, guest, at.alice.workspaceId, 'Guest');
    const elsewhere = { 'x-client-id': String(at.alice.workspaceId) };
    const answer = await at.app.post(
      'docker-container/template/create',
      { containerRef: { id }, title: 'Not mine' },
      { authorization: `Bearer ${guest.tokens().accessToken}`, 'idempotency-key': 'a-guest', ...elsewhere },
    );
    expect(answer.status).toBe(403);
  });

  it('are at most 100 in a workspace', async () => {
    const { id } = await create();
    const { workspaceId } = at.alice;
    await at.app.ctx.db
      .insertInto('container_template')
      .columns(['workspace_id', 'title', 'fields'])
      .expression((eb) =>
        eb
          .selectFrom(eb.fn<{ n: number }>('generate_series', [eb.lit(1), eb.lit(100)]).as('n'))
          .select((of) => [of.val(workspaceId).as('w'), of.cast<string>('n', 'text').as('t'), of.val('{}').as('f')]),
      )
      .execute();
    await expect(
      at.alice.client(api.containerTemplates.create, { containerRef: { id }, title: 'One too many' }),
    ).rejects.toMatchObject({ ...REFUSED, message: 'A workspace has at most 100 templates: delete one first' });
    await at.app.ctx.db.deleteFrom('container_template').where('workspace_id', '=', workspaceId).execute();
  });

  /** What the form sends for a template, with a value for each variable that has none. */
  const inputOf = (fields: TemplateFields, gpuIds: number[]) => ({
    ...request({ gpuIds }),
    dockerImage: fields.dockerImage,
    command: fields.command ?? undefined,
    env: fields.env.map(({ name, value }) => ({ name, value: value ?? 'entered' })),
    cpus: fields.cpus,
    memoryGb: fields.memoryGb ?? undefined,
    portMappings: fields.portMappings,
    directoryMappings: fields.directoryMappings,
    restartPolicy: fields.restartPolicy,
  });

  it.each(PLATFORM_TEMPLATES)('of the platform: $name fits its schema, and the policy accepts it', async (template) => {
    expect(PlatformTemplate.parse(template)).toEqual(template);
    const { fields, needs } = template;
    expect(fields.dockerImage).toMatch(/:[\w.-]*\d[\w.-]*$/);
    if (fields.command !== null) expect(splitCommand(fields.command).length).toBeGreaterThan(1);
    // What opens a page to the network asks for a password, or says that it has none.
    const asks = fields.env.some(({ value }) => value === null);
    if (fields.portMappings.length > 0) expect(asks || /no password/.test(template.description)).toBe(true);
    const gpuIds = Array.from({ length: fields.gpuCount }, (_, index) => index);
    expect(CreateContainer.safeParse(inputOf(fields, gpuIds)).error).toBeUndefined();
    const container = await create(inputOf(fields, gpuIds));
    const { containers } = await wanted(container.id);
    expect(containers.find(({ id }) => id === container.id)?.spec.image).toBe(fields.dockerImage);
    const facts = { arch: 'x64', ramBytes: 64 * 2 ** 30, gpus: [] };
    const without = suitsServer({ gpuCount: fields.gpuCount, arch: needs.arch, memoryGb: needs.memoryGb }, facts);
    expect(without.allowed).toBe(!needs.gpu);
  });

  it('of the platform have names of their own', async () => {
    const names = PLATFORM_TEMPLATES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect((await at.alice.client(api.containerTemplates.list, {})).platform).toEqual(PLATFORM_TEMPLATES);
    console.log(`templates of the platform: n = ${names.length}; their public images were not run`);
  });
});
