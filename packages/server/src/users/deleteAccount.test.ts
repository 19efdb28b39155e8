import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  aContainer,
  anSshKey,
  aProject,
  aRentedInstance,
  aSelfHostedServer,
  aStorage,
  markSteppedUp,
} from '../testing/factories.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import { mailedCode, PASSWORD, type Person } from '../testing/person.ts';
import { storedMails } from '../testing/storedMails.ts';
import { as, change, newAddress, signIn, signUp } from './testing/accounts.ts';
import { KEPT, pointersTo, tablesWith } from './testing/personalData.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', SUPPORT_EMAIL: 'help@example.com' });
});
afterAll(() => app?.close());

describe('deleting the account', () => {
  const remove = (person: Person, email = person.email) => app.post('user/delete', { email }, as(person));

  async function join(person: Person, workspaceId: number, role: 'Owner' | 'Developer') {
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: workspaceId, user_id: person.userId, role })
      .execute();
  }

  it('previews what it deletes and requires the own address', async () => {
    const person = await signUp(app, 'Ada');
    await anSshKey(app.ctx, person);
    expect(await person.client(api.account.deletion, {})).toEqual({
      isSuccess: true,
      closes: [
        {
          clientId: person.workspaceId,
          clientName: 'Ada’s workspace',
          balance: { currency: 'STAGI', decimalValue: '50.00' },
          openInstances: 0,
          openStorages: 0,
          openProjects: 0,
        },
      ],
      leaves: [],
      sshKeys: 1,
    });
    expect(await remove(person, 'somebody@example.com')).toMatchObject({
      status: 400,
      body: { message: 'This is not the address of your account', fieldsWithError: ['email'] },
    });
    expect((await person.client(api.user.profile, {})).userProfile.email).toBe(person.email);
  });

  it('is refused while there are servers, storages or projects, and to the last owner of a shared workspace', async () => {
    const [person, friend] = [await signUp(app, 'Ada'), await signUp(app)];
    for (const open of [aRentedInstance, aSelfHostedServer]) {
      const id = await open(app.ctx, person);
      expect(await remove(person)).toMatchObject({
        status: 200,
        body: {
          isSuccess: false,
          message: 'There are still servers in “Ada’s workspace”. Terminate or delete them first.',
        },
      });
      await app.ctx.db.updateTable('instance').set({ closed_at: new Date() }).where('id', '=', id).execute();
    }
    for (const [table, make] of [
      ['storage', aStorage],
      ['project', aProject],
    ] as const) {
      const id = await make(app.ctx, person);
      const { closes } = await person.client(api.account.deletion, {});
      expect(closes).toMatchObject([
        { openStorages: table === 'storage' ? 1 : 0, openProjects: table === 'project' ? 1 : 0 },
      ]);
      expect(await remove(person)).toMatchObject({
        body: { isSuccess: false, message: `There are still ${table}s in “Ada’s workspace”. Delete them first.` },
      });
      await app.ctx.db.updateTable(table).set({ closed_at: new Date() }).where('id', '=', id).execute();
    }
    await join(friend, person.workspaceId, 'Developer');
    expect(await person.client(api.account.deletion, {})).toMatchObject({
      closes: [],
      leaves: [{ clientName: 'Ada’s workspace', lastOwner: true }],
    });
    expect(await remove(person)).toMatchObject({
      status: 200,
      body: {
        isSuccess: false,
        message:
          'You are the last owner of “Ada’s workspace”, which has other members. Make somebody else an owner first.',
      },
    });
    await app.ctx.db.updateTable('membership').set({ role: 'Owner' }).where('user_id', '=', friend.userId).execute();
    expect((await remove(person)).body).toMatchObject({ isSuccess: true });
    expect((await friend.client(api.user.profile, {})).userProfile.clientRelations).toHaveLength(2);
  });

  it('deletes only one of two owners who delete their accounts at once', async () => {
    const [one, two, guest] = [await signUp(app), await signUp(app), await signUp(app)];
    await join(two, one.workspaceId, 'Owner');
    await join(guest, one.workspaceId, 'Developer');
    const replies = await Promise.all([remove(one), remove(two)]);
    expect(replies.map(({ body }) => (body as { isSuccess: boolean }).isSuccess).sort()).toEqual([false, true]);
  });

  it('refuses what is created at the same time in a workspace that closes', async () => {
    const person = await signUp(app);
    const make = () =>
      app.post(
        'self-hosted-instance/create',
        { title: 'Late', slug: 'late' },
        { ...as(person), 'x-client-id': String(person.workspaceId), 'idempotency-key': 'late' },
      );
    const { reply } = await app.ctx.db.transaction().execute(async (closing) => {
      await closing.selectFrom('workspace').select('id').where('id', '=', person.workspaceId).forUpdate().execute();
      const late = make();
      await waitForBlockedStatements(app.ctx.db);
      await closing
        .updateTable('workspace')
        .set({ disabled_at: new Date() })
        .where('id', '=', person.workspaceId)
        .execute();
      // Wrapped, or the transaction would wait for what waits for it.
      return { reply: late };
    });
    expect((await reply).status).toBe(503);
    expect((await make()).status).toBe(404);
  });

  it('is refused when a server is created at the same time', async () => {
    const person = await signUp(app);
    const { reply } = await app.ctx.db.transaction().execute(async (making) => {
      await aSelfHostedServer({ ...app.ctx, db: making }, person);
      const removal = remove(person);
      await waitForBlockedStatements(app.ctx.db);
      return { reply: removal };
    });
    expect(await reply).toMatchObject({ status: 200, body: { isSuccess: false } });
    expect((await person.client(api.user.profile, {})).userProfile.email).toBe(person.email);
  });

  it('revokes every session, removes keys from shared servers, and leaves no personal data', async () => {
    const [person, friend] = [await signUp(app, 'Zebulon Quagga'), await signUp(app)];
    await join(person, friend.workspaceId, 'Developer');
    const shared = await aRentedInstance(app.ctx, friend);
    const key = await anSshKey(app.ctx, person);
    await app.ctx.db.insertInto('instance_ssh_key').values({ instance_id: shared, ssh_key_id: key }).execute();
    const mine = await aRentedInstance(app.ctx, person);
    const container = await aContainer(app.ctx, person, mine);
    await app.ctx.db
      .insertInto('log_line')
      .values({ container_id: container, seq: 1n, time_ns: 1n, stderr: false, text: 'quagga' })
      .execute();
    await app.ctx.db.updateTable('instance').set({ closed_at: new Date() }).where('id', '=', mine).execute();
    await person.client(api.feedback.send, {
      topic: 'Ask a question',
      subject: 'quagga',
      description: 'From Zebulon',
      contactEmail: person.email,
    });
    await markSteppedUp(app.ctx, person);
    const { token } = await person.client(api.apiTokens.create, { description: 'Quagga’s laptop' });
    await change(app, person, newAddress());
    const { workspaceId } = person;

    expect((await remove(person)).body).toEqual({ isSuccess: true });

    expect((await app.post('user/profile', {}, as(person))).status).toBe(401);
    expect((await app.post('auth/exchange-refresh-token', { refreshToken: person.tokens().refreshToken })).status).toBe(
      401,
    );
    expect((await app.post('ssh-key/list', {}, { authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await signIn(app, person.email)).status).toBe(400);
    expect(await app.ctx.db.selectFrom('instance_ssh_key').selectAll().where('ssh_key_id', '=', key).execute()).toEqual(
      [],
    );
    const { disabled_at, deleted_at } = await app.ctx.db
      .selectFrom('workspace')
      .selectAll()
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    expect([disabled_at, deleted_at]).toEqual([expect.any(Date), expect.any(Date)]);
    const [told, ...older] = await storedMails(app.ctx, person.email);
    expect(told?.subject).toBe('Your Stagi account was deleted');
    expect(older).toEqual([]);
    await app.ctx.db.deleteFrom('mail').where('recipient', '=', person.email).execute();
    await cleanUp(app.ctx);
    expect(await tablesWith(app.ctx.db, [person.email, 'Zebulon'])).toEqual([]);
    // Audit entries stay for 400 days, without naming the user.
    expect(await tablesWith(app.ctx.db, ['quagga'])).toEqual(['audit']);
    expect(await pointersTo(app.ctx.db, person.userId)).toEqual(KEPT);
    // The ledger's sums are unchanged.
    const postings = await app.ctx.db
      .selectFrom('posting')
      .innerJoin('account', 'account.id', 'posting.account_id')
      .select('amount')
      .where('client_id', '=', workspaceId)
      .execute();
    expect(postings).toEqual([{ amount: 50_000_000n }]);
  });

  it('allows a new sign-up with the address, without a second starter credit', async () => {
    const person = await signUp(app);
    expect((await remove(person)).body).toEqual({ isSuccess: true });
    await app.post('auth/email/register', { name: 'Again', email: person.email, password: PASSWORD });
    const code = await mailedCode(app.url, person.email);
    const { accessToken } = (await app.post('auth/email/verify-code', { email: person.email, code })).body as {
      accessToken: string;
    };
    const { userProfile } = (await app.post('user/profile', {}, { authorization: `Bearer ${accessToken}` })).body as {
      userProfile: { userId: number; clientRelations: { clientId: number }[] };
    };
    expect(userProfile.userId).not.toBe(person.userId);
    const balance = await app.post(
      'billing/balance',
      {},
      { authorization: `Bearer ${accessToken}`, 'x-client-id': String(userProfile.clientRelations[0]?.clientId) },
    );
    expect(balance.body).toMatchObject({ clientBalance: { STAGI: { decimalValue: '0.00' } } });
  });
});
