import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { REASON_MAX } from '@stagi/contract/adminReason.ts';
import { api, everyCall } from '@stagi/contract/api.ts';
import type { AuditEntry } from '@stagi/contract/audit.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ABSENT } from '../app/testing/sample.ts';
import { SAMPLES } from '../app/testing/samples.ts';
import { pageOfEntries } from '../audit/entries.ts';
import { authorizedKeys } from '../instances/sshAccess.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf } from '../testing/eventStream.ts';
import { anApiToken, anSshKey, aRentedInstance, makeOperator, markSteppedUp } from '../testing/factories.ts';
import { PASSWORD, type Person } from '../testing/person.ts';
import { storedMails } from '../testing/storedMails.ts';
import { setOperator } from './setOperator.ts';

const ROUNDS = 10;
const SOON = { timeout: 60_000, interval: 100 };

let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp({ SUPPORT_EMAIL: 'help@example.com' });
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

const newestMail = async (email: string) => (await storedMails(app.ctx, email))[0]!;

async function newestMailId(): Promise<number> {
  const { id } = await app.ctx.db.selectFrom('mail').select('id').orderBy('id', 'desc').executeTakeFirstOrThrow();
  return id;
}

/** The newest entry of a chain; 0 is the operators' own. */
async function newestEntry(chain: number): Promise<AuditEntry | undefined> {
  const request = { orderByField: 'at', orderByDirection: 'desc', page: 1, limit: 1 } as const;
  return (await pageOfEntries(app.ctx.db, chain, {}, request)).entities[0];
}

const instanceRow = (id: number) =>
  app.ctx.db.selectFrom('instance').select(['desired', 'status']).where('id', '=', id).executeTakeFirstOrThrow();

const statusOf = async (answer: Promise<unknown>): Promise<number> =>
  answer.then(
    () => 200,
    (error: { status: number }) => error.status,
  );

describe('disabling an account', () => {
  it('ends its sessions and streams at once, mails the reason, and is recorded in both audit logs', async () => {
    const victim = await app.signUp('Vera Victim');
    await victim.client(api.user.edit, { language: 'tr' });
    const { token } = await anApiToken(app.ctx, victim);
    const server = await aRentedInstance(app.ctx, victim);
    const key = await anSshKey(app.ctx, victim);
    await app.ctx.db.insertInto('instance_ssh_key').values({ instance_id: server, ssh_key_id: key }).execute();
    const events = await eventsOf(app.url, victim);
    const withToken = () => app.post(api.billing.balance.path, {}, { authorization: `Bearer ${token}` });
    expect((await withToken()).status).toBe(200);
    expect(await authorizedKeys(app.ctx.db, server)).toHaveLength(1);

    const { entity } = await operator.client(api.adminUsers.disable, { id: victim.userId, reason: '  Mines coins ' });
    expect(entity).toMatchObject({ state: 'disabled', disabled: { reason: 'Mines coins', by: 'Olga Operator' } });

    expect(await events.closed).toBe(STREAM_CLOSE.signedOut);
    expect((await withToken()).status).toBe(401);
    expect(await statusOf(victim.client(api.user.profile, {}))).toBe(401);
    const { refreshToken } = victim.tokens() ?? {};
    expect((await app.post(api.auth.exchangeRefreshToken.path, { refreshToken })).status).not.toBe(200);
    expect(await authorizedKeys(app.ctx.db, server)).toEqual([]);
    const again = await app.post('auth/email/authentication', { email: victim.email, password: PASSWORD });
    expect(again.status).toBe(400);

    const mail = await newestMail(victim.email);
    expect(mail.subject).toContain('devre dışı');
    expect(mail.text).toContain('Mines coins');
    expect(mail.text).toContain('help@example.com');

    expect(await newestEntry(0)).toMatchObject({
      action: 'admin/user/disable',
      actor: { userId: operator.userId },
      outcome: 'done',
      object: { type: 'admin/user', id: String(victim.userId), label: 'Vera Victim' },
      detail: { reason: 'Mines coins' },
      before: expect.any(String),
      after: expect.any(String),
    });
    const entry = await newestEntry(victim.workspaceId);
    expect(entry).toMatchObject({ action: 'admin/user/disable', actor: null, by: 'platform', detail: {} });
    expect(entry?.object).toMatchObject({ id: String(victim.userId), label: 'Vera Victim' });

    await operator.client(api.adminUsers.enable, { id: victim.userId });
    expect((await withToken()).status).toBe(200);
    expect(await authorizedKeys(app.ctx.db, server)).toHaveLength(1);
    expect(await statusOf(victim.client(api.user.profile, {}))).toBe(401);
    const back = await app.post('auth/email/authentication', { email: victim.email, password: PASSWORD });
    expect(back.status).toBe(200);
    expect((await newestMail(victim.email)).subject).not.toContain('devre dışı');
    expect(await newestEntry(victim.workspaceId)).toMatchObject({ action: 'admin/user/enable' });
  });

  it('needs a reason and a step-up, and refuses what makes no sense', async () => {
    const victim = await app.signUp();
    const disable = (id: number, reason = 'why not') => operator.client(api.adminUsers.disable, { id, reason });
    await expect(disable(victim.userId, '   ')).rejects.toMatchObject({
      status: 400,
      body: { message: 'Reason is required', fieldsWithError: ['reason'] },
    });
    await expect(disable(operator.userId)).rejects.toMatchObject({
      status: 200,
      body: { message: 'You cannot disable your own account' },
    });
    await expect(disable(999_999_999)).rejects.toMatchObject({ status: 404 });
    await expect(operator.client(api.adminUsers.enable, { id: victim.userId })).rejects.toMatchObject({
      body: { message: 'This account is not disabled' },
    });
    await disable(victim.userId);
    await expect(disable(victim.userId)).rejects.toMatchObject({
      body: { message: 'This account is already disabled' },
    });
    await app.ctx.db
      .updateTable('session')
      .set({ stepped_up_at: null })
      .where('user_id', '=', operator.userId)
      .execute();
    const named = { ...ABSENT, member: victim.userId, email: victim.email };
    for (const call of everyCall().filter(({ path, stepUp }) => path.startsWith('admin/') && stepUp))
      expect
        .soft(await app.post(call.path, SAMPLES[call.path]!.input(named), as(operator)), call.path)
        .toMatchObject({ status: 403, body: { code: 'step-up' } });
  });

  it('succeeds for one of two operators who disable each other at the same time', async () => {
    const other = await anOperator('Otto');
    let won = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all([
        app.post(api.adminUsers.disable.path, { id: other.userId, reason: 'first' }, as(operator)),
        app.post(api.adminUsers.disable.path, { id: operator.userId, reason: 'second' }, as(other)),
      ]);
      const through = answers.filter(
        ({ status, body }) => status === 200 && (body as { isSuccess: boolean }).isSuccess,
      );
      expect(through, JSON.stringify(answers)).toHaveLength(1);
      expect(answers.find((answer) => answer !== through[0])?.status).toBeOneOf([401, 403]);
      won += 1;
      await sql`update app_user set disabled_at = null where id in (${operator.userId}, ${other.userId})`.execute(
        app.ctx.db,
      );
      await sql`update session set revoked_at = null where user_id in (${operator.userId}, ${other.userId})`.execute(
        app.ctx.db,
      );
    }
    console.log(`operators: n = ${ROUNDS} races, one winner in ${won}`);
  });

  it('is refused to everybody who is not an operator', async () => {
    const owner = await app.signUp();
    await markSteppedUp(app.ctx, owner);
    for (const call of everyCall().filter(({ path }) => path.startsWith('admin/')))
      expect.soft((await app.post(call.path, { id: 1, reason: 'x' }, as(owner))).status, call.path).toBe(403);
    expect(await newestEntry(0)).toMatchObject({ outcome: 'denied', actor: { userId: owner.userId } });
  });
});

describe('disabling a workspace', () => {
  it('refuses its members, stops what can stop and terminates what was never ready', async () => {
    const owner = await app.signUp('Walter');
    const { token } = await anApiToken(app.ctx, owner);
    const running = await aRentedInstance(app.ctx, owner, 'online');
    const queued = await aRentedInstance(app.ctx, owner, 'in queue');
    const rebooting = await aRentedInstance(app.ctx, owner, 'rebooting');
    const stopped = await aRentedInstance(app.ctx, owner, 'stopped');
    const unstoppable = await aRentedInstance(app.ctx, owner, 'online');
    await sql`update instance set offer = offer || '{"canStop": false}' where id = ${unstoppable}`.execute(app.ctx.db);
    await sql`update instance set desired = 'stopped' where id = ${stopped}`.execute(app.ctx.db);
    const events = await eventsOf(app.url, owner);

    const id = owner.workspaceId;
    const reason = 'Unpaid since spring. '.padEnd(REASON_MAX, 'x');
    const { entity } = await operator.client(api.adminClients.disable, { id, reason });
    expect(entity).toMatchObject({ state: 'disabled', disabled: { reason } });
    expect(await events.closed).toBe(STREAM_CLOSE.workspaceGone);
    await expect(owner.client(api.instances.list, {})).rejects.toMatchObject({
      status: 404,
      body: { fieldsWithError: ['X-Client-ID'] },
    });
    expect((await owner.client(api.user.profile, {})).userProfile.clientRelations).toEqual([]);
    expect(
      (await app.post(api.instances.list.path, {}, { authorization: `Bearer ${token}`, 'x-client-id': String(id) }))
        .status,
    ).toBe(404);
    expect((await instanceRow(running)).desired).toBe('stopped');
    expect((await instanceRow(queued)).desired).toBe('gone');
    expect((await instanceRow(rebooting)).desired).toBe('running');
    expect((await instanceRow(unstoppable)).desired).toBe('running');

    await sql`update instance set status = 'online' where id = ${rebooting}`.execute(app.ctx.db);
    await vi.waitFor(async () => expect((await instanceRow(rebooting)).desired).toBe('stopped'), SOON);
    expect((await instanceRow(unstoppable)).desired).toBe('running');

    expect((await newestMail(owner.email)).text).toContain('Unpaid');
    expect(await newestEntry(0)).toMatchObject({
      action: 'admin/client/disable',
      object: { id: String(id) },
      detail: { reason },
    });
    expect(await newestEntry(id)).toMatchObject({ action: 'admin/client/disable', actor: null, detail: { reason } });

    await operator.client(api.adminClients.enable, { id });
    expect((await owner.client(api.user.profile, {})).userProfile.clientRelations).toMatchObject([{ clientId: id }]);
    expect((await instanceRow(running)).desired).toBe('stopped');
    const { entities } = await owner.client(api.audit.list, {});
    expect(entities.map(({ action }) => action).slice(0, 2)).toEqual(['admin/client/enable', 'admin/client/disable']);
    const { entities: happened } = await owner.client(api.instances.activities, { id: running });
    expect(happened.map(({ detail }) => detail)).toContain('The workspace was disabled by an operator');
  });

  it('mails its members why it was disabled and that it is enabled again, each in their language', async () => {
    const owner = await app.signUp('Walter');
    const second = await app.signUp('Wilma');
    const developer = await app.signUp('Dmitri');
    const guest = await app.signUp('Gül');
    const out = await app.signUp('Otto Out');
    const roles = [
      [second, 'Owner'],
      [developer, 'Developer'],
      [guest, 'Guest'],
      [out, 'Admin'],
    ] as const;
    for (const [{ userId }, role] of roles)
      await app.ctx.db
        .insertInto('membership')
        .values({ workspace_id: owner.workspaceId, user_id: userId, role })
        .execute();
    await developer.client(api.user.edit, { language: 'ru' });
    await guest.client(api.user.edit, { language: 'tr' });
    await app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', out.userId).execute();
    await sql`update workspace set name = ${'Lab\nTwo'} where id = ${owner.workspaceId}`.execute(app.ctx.db);
    const told = async () => {
      const { rows } = await sql<{ recipient: string }>`select recipient from mail where recipient in
        (${sql.join([owner, second, developer, guest, out].map(({ email }) => email))}) and id > ${before}
        order by id`.execute(app.ctx.db);
      return rows.map(({ recipient }) => recipient);
    };
    let before = await newestMailId();
    await operator.client(api.adminClients.disable, { id: owner.workspaceId, reason: 'Mines coins' });
    expect(await told()).toEqual([owner.email, second.email, developer.email, guest.email]);
    for (const { email } of [owner, second, developer, guest]) {
      const { subject, text, html } = await newestMail(email);
      expect.soft(subject, email).toContain('Lab Two');
      for (const part of [text, html]) expect.soft(part, email).toContain('Mines coins');
    }
    expect((await newestMail(second.email)).text).toContain('a workspace of yours');
    expect((await newestMail(developer.email)).text).toContain('участником которого вы являетесь');
    expect((await newestMail(guest.email)).text).toContain('üyesi olduğunuz bir çalışma alanını devre dışı');
    before = await newestMailId();
    await operator.client(api.adminClients.enable, { id: owner.workspaceId });
    expect(await told()).toEqual([owner.email, second.email, developer.email, guest.email]);
    expect((await newestMail(guest.email)).text).toContain('yeniden etkinleştirdi. Oradaki rolünüz');
    expect((await newestMail(developer.email)).text).toContain('/sign-in');

    // Refused: nobody gets a mail.
    before = await newestMailId();
    await expect(operator.client(api.adminClients.enable, { id: owner.workspaceId })).rejects.toMatchObject({
      status: 200,
    });
    expect(await told()).toEqual([]);
  });

  it('terminates what cannot stop when that is chosen', async () => {
    const owner = await app.signUp();
    const unstoppable = await aRentedInstance(app.ctx, owner, 'online');
    const stoppable = await aRentedInstance(app.ctx, owner, 'online');
    await sql`update instance set offer = offer || '{"canStop": false}' where id = ${unstoppable}`.execute(app.ctx.db);
    await Promise.all(Array.from({ length: 100 }, () => aRentedInstance(app.ctx, owner, 'online')));
    const { entity } = await operator.client(api.adminClients.view, { id: owner.workspaceId });
    expect(entity.machineCount).toBe(102);
    expect(entity.machines.find(({ canStop }) => !canStop)).toMatchObject({ id: unstoppable });
    await operator.client(api.adminClients.disable, { id: owner.workspaceId, reason: 'Abuse', terminate: true });
    expect((await instanceRow(unstoppable)).desired).toBe('gone');
    expect((await instanceRow(stoppable)).desired).toBe('stopped');
  });

  it('refuses a workspace that is disabled already or closed', async () => {
    const owner = await app.signUp();
    const id = owner.workspaceId;
    await expect(operator.client(api.adminClients.enable, { id })).rejects.toMatchObject({
      body: { message: 'This workspace is not disabled' },
    });
    await operator.client(api.adminClients.disable, { id, reason: 'x' });
    await expect(operator.client(api.adminClients.disable, { id, reason: 'x' })).rejects.toMatchObject({
      body: { message: 'This workspace is already disabled' },
    });
    await expect(operator.client(api.adminClients.disable, { id: 999_999_999, reason: 'x' })).rejects.toMatchObject({
      status: 404,
    });
    const lonely = await anOperator('Lonely');
    const own = { id: lonely.workspaceId, reason: 'x' };
    await expect(lonely.client(api.adminClients.disable, own)).rejects.toMatchObject({
      status: 200,
      body: { message: 'This is your only workspace: create another one before you disable it' },
    });
    const { entity: another } = await lonely.client(api.clients.create, { name: 'Another' });
    expect((await lonely.client(api.adminClients.disable, own)).entity.state).toBe('disabled');
    lonely.useWorkspace(another.clientId);
    expect((await lonely.client(api.adminClients.enable, { id: own.id })).entity.state).toBe('active');
  });
});

describe('the command line', () => {
  const run = async (...args: string[]) => {
    const script = join(import.meta.dirname, '../../../../scripts/operator.ts');
    const env = { ...process.env, DATABASE_URL: app.databaseUrl, STAGI_DATA: app.dataDir };
    return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
      ({ stdout }) => ({ code: 0, out: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, out: stderr }),
    );
  };

  it('makes and removes operators of a running platform, and refuses unknown accounts', {
    timeout: 240_000,
  }, async () => {
    const person = await app.signUp('Nina');
    const may = () => statusOf(person.client(api.adminUsers.list, {}));
    expect(await may()).toBe(403);
    expect(await run('make', person.email.toUpperCase())).toMatchObject({
      code: 0,
      out: expect.stringContaining('now'),
    });
    expect(await may()).toBe(200);
    expect(await newestEntry(0)).toMatchObject({
      action: 'admin/operator/make',
      by: 'platform',
      object: { id: String(person.userId), label: 'Nina' },
    });
    const tell = (what: 'make' | 'remove', email = person.email) => setOperator(app.ctx.db, what, email, 'root');
    expect(await tell('make')).toMatchObject({ changed: false });
    expect(await tell('remove')).toMatchObject({ name: 'Nina', changed: true });
    expect(await may()).toBe(403);
    expect(await run('make', 'nobody@example.com')).toMatchObject({ code: 1, out: expect.stringContaining('Nobody') });
    await app.ctx.db.updateTable('app_user').set({ email_verified_at: null }).where('id', '=', person.userId).execute();
    await expect(tell('make')).rejects.toThrow(/not shown that the address is theirs/);
    await app.ctx.db
      .updateTable('app_user')
      .set({ email_verified_at: new Date(), disabled_at: new Date() })
      .where('id', '=', person.userId)
      .execute();
    await expect(tell('make')).rejects.toThrow(/is disabled/);
  });
});

const as = (person: Person) => ({
  authorization: `Bearer ${person.tokens().accessToken}`,
  'x-client-id': String(person.workspaceId),
});
