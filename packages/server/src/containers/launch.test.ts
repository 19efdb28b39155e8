import { api } from '@stagi/contract/api.ts';
import { fieldErrors } from '@stagi/contract/errors.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { describe, expect, it } from 'vitest';
import { connectDaemon } from '../testing/daemon.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { type Create, readyServer } from './testing/readyServer.ts';

const TOO_OLD = 'The agent of this server is too old for this: install it again';
const NO_USER = 'Enter a user like 1000, 1000:1000 or name';

describe('what a container is launched with', () => {
  const { at, join, create, request, running, wanted } = readyServer();
  const specOf = async (id: number) => (await wanted(id)).containers.find((one) => one.id === id)!.spec;
  const refusal = (more: Partial<Create>) =>
    create(more).then(
      () => ({}),
      (error: unknown) => fieldErrors(error),
    );

  it('is Docker’s default unless it is asked for', async () => {
    const made = await create();
    expect(made).toMatchObject({ entrypoint: null, user: null, capabilities: 'docker' });
    const { entrypoint, user, capabilities } = await specOf(made.id);
    expect({ entrypoint, user, capabilities }).toEqual({
      entrypoint: undefined,
      user: undefined,
      capabilities: 'docker',
    });
  });

  it('is kept by an edit, a template and a clone', async () => {
    const asked = {
      entrypoint: '/usr/sbin/sshd -D "-o X=1 2"',
      user: '1000:1000',
      capabilities: 'hardened' as const,
      directoryMappings: [{ host: '/data/a', container: '/with:colon' }],
    };
    const spec = {
      entrypoint: ['/usr/sbin/sshd', '-D', '-o X=1 2'],
      user: '1000:1000',
      directories: asked.directoryMappings,
    };
    const { id } = await running(asked);
    expect(await specOf(id)).toMatchObject(spec);
    expect((await specOf(id)).capabilities).toBeUndefined();
    const edit = async (more: object) => (await at.alice.client(api.containers.edit, { ref: { id }, ...more })).entity;
    expect(await edit({ cpus: 0.2 })).toMatchObject({ ...asked, cpus: 0.2 });
    const { entity: template } = await at.alice.client(api.containerTemplates.create, {
      containerRef: { id },
      title: 'Launched',
    });
    expect(template.fields).toMatchObject(asked);
    const { entity: clone } = await at.alice.client(api.containers.create, request({ cloneOf: { id }, ...asked }));
    expect(await specOf(clone.id)).toMatchObject(spec);
    const cleared = await edit({ entrypoint: null, user: null, capabilities: 'docker' });
    expect(cleared).toMatchObject({ entrypoint: null, user: null, capabilities: 'docker' });
    expect(cleared.pendingEdit).not.toBeNull();
    const { entity: undone } = await at.alice.client(api.containers.undoEdit, { id });
    expect(undone).toMatchObject(asked);
  });

  it('takes the users that Docker takes, and no others', async () => {
    const users = ['0', '1000', '1000:1000', 'node', 'www-data', 'app:app', '_apt', 'a.b', 'svc$', '1000:staff'];
    for (const user of users) expect(await create({ user })).toMatchObject({ user });
    expect(await create({ user: '' })).toMatchObject({ user: null });
    const wrong = ['a b', ':1', '1:', '1:2:3', '-x', '2147483648', '1000:2147483648', 'a/b', '$(id)', 'a\nb'];
    for (const user of wrong) expect(await refusal({ user }), user).toEqual({ user: NO_USER });
    console.log(`users: n = ${users.length} taken, ${wrong.length} refused`);
  });

  it('is hardened where the agent or its policy gives no more', async () => {
    const launches: [MachineFacts['launch'], Partial<Create>, object][] = [
      [undefined, {}, {}],
      [undefined, { capabilities: 'docker' }, { capabilities: 'This server allows only the hardened set' }],
      [undefined, { entrypoint: 'sh' }, { entrypoint: TOO_OLD }],
      [undefined, { user: '1000' }, { user: TOO_OLD }],
      [
        undefined,
        { directoryMappings: [{ host: '/data/a', container: '/a:b' }] },
        { 'directoryMappings.0.container': TOO_OLD },
      ],
      [{ init: true, capabilities: 'hardened' }, { entrypoint: 'sh', user: '1000' }, {}],
      [
        { init: true, capabilities: 'hardened' },
        { capabilities: 'docker' },
        { capabilities: 'This server allows only the hardened set' },
      ],
    ];
    for (const [launch, more, expected] of launches) {
      const server = await aRentedInstance(at.app.ctx, at.alice);
      const daemon = await connectDaemon(at.app.url, await join(server), { facts: { launch } });
      const asked = { ...more, instanceRef: { id: server } };
      expect(await refusal(asked), JSON.stringify(more)).toEqual(expected);
      if (Object.keys(expected).length === 0)
        expect((await at.alice.client(api.containers.list, { instanceRef: { id: server } })).entities).toMatchObject([
          { capabilities: 'hardened' },
        ]);
      await daemon.close();
    }
    console.log(`servers: n = ${launches.length}`);
  });
});
