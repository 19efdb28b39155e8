import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  anApiToken,
  anSshKey,
  aProject,
  aRentedInstance,
  aSelfHostedServer,
  aStorage,
  makeOperator,
  markSteppedUp,
} from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { storedMails } from '../testing/storedMails.ts';
import { signIn } from '../users/testing/accounts.ts';
import { KEPT, pointersTo, tablesWith } from '../users/testing/personalData.ts';

let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', SUPPORT_EMAIL: 'help@example.com' });
  operator = await anOperator('Olga Operator');
});
afterAll(() => app?.close());
beforeEach(() => markSteppedUp(app.ctx, operator));

async function anOperator(name: string): Promise<Person> {
  const person = await app.signUp(name);
  await makeOperator(app.ctx, person);
  await markSteppedUp(app.ctx, person);
  return person;
}

const remove = ({ userId, email }: Pick<Person, 'userId' | 'email'>, reason = 'Asked for it in writing') =>
  operator.client(api.adminUsers.delete, { id: userId, email, reason });
const saying = async (work: Promise<unknown>) => (await refusal(work)).message;

async function join(person: Person, workspaceId: number, role: 'Owner' | 'Developer') {
  await app.ctx.db
    .insertInto('membership')
    .values({ workspace_id: workspaceId, user_id: person.userId, role })
    .execute();
}

it('previews, and is refused while there are servers, storages or projects, and for a last owner', async () => {
  const [person, friend] = [await app.signUp('Ada'), await app.signUp()];
  const preview = () => operator.client(api.adminUsers.deletion, { id: person.userId });
  expect(await preview()).toMatchObject({
    closes: [{ clientId: person.workspaceId, balance: { decimalValue: '50.00' }, openInstances: 0 }],
    leaves: [],
    sshKeys: 0,
  });
  for (const [table, make, message] of [
    [
      'instance',
      aRentedInstance,
      'There are still servers in “Ada’s workspace”. They have to be terminated or deleted by a member; disabling the workspace stops them meanwhile.',
    ],
    [
      'instance',
      aSelfHostedServer,
      'There are still servers in “Ada’s workspace”. They have to be terminated or deleted by a member; disabling the workspace stops them meanwhile.',
    ],
    ['storage', aStorage, 'There are still storages in “Ada’s workspace”. They have to be deleted by a member.'],
    ['project', aProject, 'There are still projects in “Ada’s workspace”. They have to be deleted by a member.'],
  ] as const) {
    const id = await make(app.ctx, person);
    expect(await saying(remove(person))).toBe(message);
    await app.ctx.db.updateTable(table).set({ closed_at: new Date() }).where('id', '=', id).execute();
  }
  await join(friend, person.workspaceId, 'Developer');
  expect(await preview()).toMatchObject({ closes: [], leaves: [{ clientName: 'Ada’s workspace', lastOwner: true }] });
  expect(await saying(remove(person))).toBe(
    'The account is the last owner of “Ada’s workspace” with other members. Have somebody else made an owner first.',
  );
  expect((await person.client(api.user.profile, {})).userProfile.email).toBe(person.email);
});

it('names every workspace that is in the way', async () => {
  const person = await app.signUp('Ada');
  await aRentedInstance(app.ctx, person);
  const { entity } = await person.client(api.clients.create, { name: 'Second' });
  person.useWorkspace(entity.clientId);
  await aRentedInstance(app.ctx, person);
  expect(await saying(remove(person))).toContain('in “Ada’s workspace”, “Second”.');
});

it('is refused for oneself, another operator, a wrong address, without a reason, and for who is not there', async () => {
  const person = await app.signUp('Ada');
  const other = await anOperator('Otto');
  expect(await saying(remove(operator))).toBe('You cannot delete your own account here: use your profile');
  expect(await saying(remove(other))).toBe('An operator’s account cannot be deleted: take the operator’s right first');
  expect((await refusal(remove({ ...person, email: other.email }))).body).toMatchObject({
    message: 'This is not the address of this account',
    fieldsWithError: ['email'],
  });
  expect((await refusal(remove(person, ' '))).body).toMatchObject({
    message: 'Reason is required',
    fieldsWithError: ['reason'],
  });
  expect((await refusal(remove({ ...person, userId: 999_999_999 }))).status).toBe(404);
  expect((await refusal(operator.client(api.adminUsers.deletion, { id: 999_999_999 }))).status).toBe(404);
  await remove(person);
  expect(await saying(remove(person))).toBe('This account has been deleted');
  expect(await saying(operator.client(api.adminUsers.deletion, { id: person.userId }))).toBe(
    'This account has been deleted',
  );
});

it('deletes everything as the person could, mails the reason, and records who did it', async () => {
  const person = await app.signUp('Zebulon Quagga');
  const friend = await app.signUp();
  await join(person, friend.workspaceId, 'Developer');
  const shared = await aRentedInstance(app.ctx, friend);
  const key = await anSshKey(app.ctx, person);
  await app.ctx.db.insertInto('instance_ssh_key').values({ instance_id: shared, ssh_key_id: key }).execute();
  const { token } = await anApiToken(app.ctx, person);
  const { workspaceId } = person;
  // An account that was disabled before can be deleted too.
  await operator.client(api.adminUsers.disable, { id: person.userId, reason: 'Asked us to, by phone' });

  expect(await remove(person)).toEqual({ isSuccess: true });

  expect((await app.post('user/profile', {}, { authorization: `Bearer ${person.tokens().accessToken}` })).status).toBe(
    401,
  );
  expect((await app.post('ssh-key/list', {}, { authorization: `Bearer ${token}` })).status).toBe(401);
  expect((await signIn(app, person.email)).status).toBe(400);
  const workspace = await app.ctx.db
    .selectFrom('workspace')
    .select(['disabled_at', 'deleted_at'])
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  expect(workspace).toEqual({ disabled_at: expect.any(Date), deleted_at: expect.any(Date) });
  const [told, ...older] = await storedMails(app.ctx, person.email);
  expect(told?.subject).toBe('Your Stagi account was deleted');
  for (const words of ['Asked for it in writing', 'help@example.com']) expect(told?.text).toContain(words);
  expect(older).toEqual([]);
  expect((await operator.client(api.audit.listForOperators, {})).entities[0]).toMatchObject({
    action: 'admin/user/delete',
    actor: { userId: operator.userId },
    outcome: 'done',
    object: { type: 'admin/user', id: String(person.userId), label: 'Deleted user' },
    detail: { reason: 'Asked for it in writing' },
  });
  const [entry] = (await friend.client(api.audit.list, {})).entities;
  expect(entry).toMatchObject({ action: 'admin/user/delete', actor: null, by: 'platform', detail: {} });
  expect(entry?.object).toMatchObject({ type: 'client/member', id: String(person.userId), label: null });

  await app.ctx.db.deleteFrom('mail').where('recipient', '=', person.email).execute();
  await cleanUp(app.ctx);
  expect(await tablesWith(app.ctx.db, [person.email])).toEqual([]);
  // The entries about the time before keep the name that they were written with.
  expect(await tablesWith(app.ctx.db, ['quagga'])).toEqual(['audit']);
  for (const pointer of await pointersTo(app.ctx.db, person.userId)) expect(KEPT).toContain(pointer);
});

it('deletes only once for two operators at once', async () => {
  const person = await app.signUp();
  const other = await anOperator('Otto');
  const input = { id: person.userId, email: person.email, reason: 'why not' };
  const answers = await Promise.allSettled([
    operator.client(api.adminUsers.delete, input),
    other.client(api.adminUsers.delete, input),
  ]);
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
