import { api } from '@stagi/contract/api.ts';
import { expect, it } from 'vitest';
import { readyServer } from '../containers/testing/readyServer.ts';
import { aProject, aRentedInstance, aSelfHostedServer, aStorage } from '../testing/factories.ts';
import { aSchedule } from '../testing/taskFactories.ts';
import { aMember } from './testing/seededWorkspace.ts';

const { at, running } = readyServer();

interface Edited {
  version?: string | undefined;
}

/** Each thing that has a form: how it is read, and how two people change it. */
interface Form {
  read(): Promise<Edited>;
  save(value: string, version?: string): Promise<unknown>;
  values: [first: string, second: string];
}

async function forms(): Promise<Record<string, Form>> {
  const { app, alice: owner } = at;
  const { client, workspaceId } = owner;
  const { ctx } = app;
  const member = await app.signUp('Max');
  await aMember(app, member, workspaceId, 'Guest');
  const project = await aProject(ctx, owner);
  const storage = await aStorage(ctx, owner);
  const rented = await aRentedInstance(ctx, owner);
  const own = await aSelfHostedServer(ctx, owner);
  const schedule = await aSchedule(ctx, owner);
  const { id: container } = await running();
  const titles: Form['values'] = ['Mine', 'Yours'];
  return {
    'a project': {
      read: async () => (await client(api.projects.view, { id: project })).entity,
      save: (title, version) => client(api.projects.edit, { id: project, title, version }),
      values: titles,
    },
    'the description of a project': {
      read: async () => (await client(api.projects.view, { id: project })).entity,
      save: (description, version) => client(api.projects.edit, { id: project, description, version }),
      values: titles,
    },
    'a storage': {
      read: async () => (await client(api.storages.view, { id: storage })).entity,
      save: (title, version) => client(api.storages.edit, { id: storage, title, version }),
      values: titles,
    },
    'the size of a storage': {
      read: async () => (await client(api.storages.view, { id: storage })).entity,
      save: (size, version) => client(api.storages.edit, { id: storage, sizeGb: Number(size), version }),
      values: ['9', '8'],
    },
    'a rented server': {
      read: async () => (await client(api.instances.view, { id: rented })).entity,
      save: (title, version) => client(api.instances.edit, { id: rented, title, version }),
      values: titles,
    },
    'an own server': {
      read: async () => (await client(api.selfHosted.view, { id: own })).entity,
      save: (title, version) => client(api.selfHosted.edit, { id: own, title, version }),
      values: titles,
    },
    'a container': {
      read: async () => (await client(api.containers.view, { id: container })).entity,
      save: (title, version) => client(api.containers.edit, { ref: { id: container }, title, version }),
      values: titles,
    },
    'the command of a container': {
      read: async () => (await client(api.containers.view, { id: container })).entity,
      save: (command, version) => client(api.containers.edit, { ref: { id: container }, command, version }),
      values: ['sleep 1', 'sleep 2'],
    },
    'a schedule': {
      read: async () => (await client(api.tasks.viewSchedule, { id: schedule })).entity,
      save: (cron, version) => client(api.tasks.editSchedule, { id: schedule, cron, version }),
      values: ['1 2 * * *', '2 3 * * *'],
    },
    'the workspace': {
      read: async () =>
        (await client(api.user.profile, {})).userProfile.clientRelations.find(
          ({ clientId }) => clientId === workspaceId,
        )!,
      save: (newName, version) => client(api.clients.edit, { newName, version }),
      values: titles,
    },
    'the role of a member': {
      read: async () =>
        (await client(api.clients.members, {})).entities.find(({ userId }) => userId === member.userId)!,
      save: (role, version) =>
        client(api.clients.editMember, { userId: member.userId, role: role as 'Developer', version }),
      values: ['Developer', 'Billing'],
    },
  };
}

it('refuses to save over what somebody else has changed since it was read', async () => {
  const all = Object.entries(await forms());
  for (const [
    what,
    {
      read,
      save,
      values: [first, second],
    },
  ] of all) {
    const { version } = await read();
    expect({ what, version }).toEqual({ what, version: expect.any(String) });
    await save(first, version);
    const { version: next } = await read();
    expect({ what, next }).not.toEqual({ what, next: version });
    await expect(save(second, version), what).rejects.toMatchObject({
      status: 409,
      body: { message: 'Somebody else has changed this meanwhile. Look at it again before you save.' },
    });
    expect({ what, kept: (await read()).version }).toEqual({ what, kept: next });
    await save(second, next);
    const { version: last } = await read();
    // Programs that name no version, and people who were told, save in any case.
    await save(first);
    expect({ what, saved: (await read()).version }).not.toEqual({ what, saved: last });
  }
  console.log(`forms that two people save: n = ${all.length}`);
});
