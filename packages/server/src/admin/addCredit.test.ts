import { api } from '@stagi/contract/api.ts';
import { asMicro, toDecimal } from '@stagi/contract/money.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { verifyLedger } from '../ledger/verify.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { storedMails } from '../testing/storedMails.ts';

const GRANTS = 60;

let app: TestApp;
let operator: Person;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp({ STARTER_CREDIT: '0' }, { role: 'api' });
  operator = await anOperator('Olga Operator');
});
afterAll(() => app?.close());
beforeEach(async () => {
  await markSteppedUp(app.ctx, operator);
  alice = await app.signUp('Alice');
});

async function anOperator(name: string): Promise<Person> {
  const person = await app.signUp(name);
  await makeOperator(app.ctx, person);
  await markSteppedUp(app.ctx, person);
  return person;
}

const credit = (amount: string, { by = operator, reason = 'A grant for the lab', key = '' } = {}) =>
  by.client(
    api.adminClients.addCredit,
    { id: alice.workspaceId, amount, reason },
    key === '' ? {} : { idempotencyKey: key },
  );
const balance = async () => (await alice.client(api.billing.balance, {})).clientBalance.STAGI.decimalValue;

it('adds to the balance; the transaction, the logs and the owners’ mail have the reason', async () => {
  const developer = await app.signUp('Dmitri');
  await app.ctx.db
    .insertInto('membership')
    .values({ workspace_id: alice.workspaceId, user_id: developer.userId, role: 'Developer' })
    .execute();
  const { entity } = await credit(' 12.5 ', { reason: '  For the <b>course</b> ' });
  expect(entity.balance.STAGI.decimalValue).toBe('12.50');
  expect(await balance()).toBe('12.50');
  const { entities } = await alice.client(api.transactions.list, {});
  expect(entities).toMatchObject([
    { type: 'Deposit', kind: 'grant', amount: { decimalValue: '12.50' }, reason: 'For the <b>course</b>' },
  ]);
  expect((await alice.client(api.transactions.view, { id: entities[0]!.id })).entity.reason).toBe(
    'For the <b>course</b>',
  );
  const [mail, ...others] = await storedMails(app.ctx, alice.email);
  expect(mail?.subject).toBe('The workspace Alice’s workspace got credit');
  for (const words of ['12.50 STAGI', 'For the <b>course</b>']) expect(mail?.text).toContain(words);
  expect(others.filter(({ subject }) => subject.includes('credit'))).toEqual([]);
  expect((await storedMails(app.ctx, developer.email)).map(({ subject }) => subject)).not.toContain(mail?.subject);
  const detail = { amount: '12.5', reason: 'For the <b>course</b>' };
  expect((await alice.client(api.audit.list, {})).entities[0]).toMatchObject({
    action: 'admin/client/add-credit',
    actor: null,
    detail,
  });
  expect((await operator.client(api.audit.listForOperators, {})).entities[0]).toMatchObject({
    action: 'admin/client/add-credit',
    actor: { userId: operator.userId },
    detail,
  });
});

it('keeps the ledger whole over many grants of random amounts', async () => {
  const seed = newSeed();
  const random = seeded(seed);
  let sum = 0n;
  for (let n = 0; n < GRANTS; n += 1) {
    const amount = BigInt(1 + Math.floor(random() * 10 ** (1 + Math.floor(random() * 11))));
    sum += amount;
    await credit(toDecimal(amount));
  }
  const { problems, journals } = await verifyLedger(app.ctx.db);
  console.log(`grants: n = ${GRANTS}, seed ${seed}, ${toDecimal(sum)} in all, ${problems} problems of the ledger`);
  expect(journals).toBeGreaterThanOrEqual(GRANTS);
  expect(problems).toBe(0);
  expect(await balance()).toBe(toDecimal(asMicro(sum)));
});

it('credits once for one Idempotency-Key, and again for another', async () => {
  const twice = await Promise.allSettled([credit('3', { key: 'double-click' }), credit('3', { key: 'double-click' })]);
  for (const answer of twice) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 });
  await credit('3', { key: 'double-click' });
  expect(await balance()).toBe('3.00');
  await credit('3', { key: 'meant' });
  expect(await balance()).toBe('6.00');
  const headers = {
    authorization: `Bearer ${operator.tokens().accessToken}`,
    'x-client-id': String(operator.workspaceId),
  };
  const without = await app.post(
    'admin/client/add-credit',
    { id: alice.workspaceId, amount: '3', reason: 'why' },
    headers,
  );
  expect(without).toMatchObject({ status: 400, body: { fieldsWithError: ['Idempotency-Key'] } });
});

it('credits for each of two operators at once', async () => {
  const other = await anOperator('Otto');
  await Promise.all([credit('1'), credit('2', { by: other })]);
  expect(await balance()).toBe('3.00');
});

it('refuses amounts and reasons that are none, each with a message at its field', async () => {
  const said = async (amount: string, reason?: string) => {
    const { status, message, body } = await refusal(credit(amount, { reason }));
    return [status, body?.fieldsWithError, message];
  };
  const amounts: Record<string, string> = {
    '': 'Amount is required',
    abc: 'Amount must be a number',
    '1e3': 'Amount must be a number',
    '1,5': 'Amount must be a number',
    NaN: 'Amount must be a number',
    '-1': 'Amount must be greater than 0',
    '0': 'Amount must be greater than 0',
    '0.000000': 'Amount must be greater than 0',
    '1.0000001': 'Amount may have at most 6 decimals',
    '1000000.000001': 'Amount must be at most 1,000,000',
    '99999999999999999999': 'Amount must be at most 1,000,000',
  };
  for (const [amount, message] of Object.entries(amounts))
    expect.soft(await said(amount), amount).toEqual([400, ['amount'], message]);
  const reasons: Record<string, string> = {
    '': 'Reason is required',
    '   ': 'Reason is required',
    ab: 'Reason must be at least 3 characters',
    ['x'.repeat(301)]: 'Reason is too long: at most 300 characters',
  };
  for (const [reason, message] of Object.entries(reasons))
    expect.soft(await said('1', reason), reason).toEqual([400, ['reason'], message]);
  expect(await balance()).toBe('0.00');
  await credit('1000000', { reason: 'x'.repeat(300) });
  expect(await balance()).toBe('1000000.00');
});

it('refuses a disabled workspace, a closed one, and one that is not there', async () => {
  const { db } = app.ctx;
  const workspace = db.updateTable('workspace').where('id', '=', alice.workspaceId);
  await workspace.set({ disabled_at: new Date() }).execute();
  expect((await refusal(credit('1'))).message).toBe('This workspace is disabled. Enable it before you add credit.');
  await workspace.set({ deleted_at: new Date() }).execute();
  expect((await refusal(credit('1'))).message).toBe('This workspace has been closed');
  const absent = operator.client(api.adminClients.addCredit, { id: 999_999_999, amount: '1', reason: 'why not' });
  expect((await refusal(absent)).status).toBe(404);
  const rows = await db.selectFrom('journal').select('id').where('client_id', '=', alice.workspaceId).execute();
  expect(rows).toEqual([]);
});
