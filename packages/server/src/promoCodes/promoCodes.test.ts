import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccounts } from '../billing/accounts.ts';
import { PublicError } from '../http/errors.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aPromoCode } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { activate } from './activate.ts';

const IN_A_DAY = (): string => new Date(Date.now() + 86_400_000).toISOString();

let app: TestApp;
let alice: Person;
let operator: Person;

beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
  operator = await app.signUp('Olga');
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
});
afterAll(async () => {
  const { problems, journals } = await verifyLedger(app.ctx.db);
  await app?.close();
  expect(journals).toBeGreaterThan(0);
  expect(problems).toBe(0);
});

const balance = async (person: Person): Promise<number> =>
  Number((await person.client(api.billing.balance, {})).clientBalance.STAGI.decimalValue);

async function refusal(work: Promise<unknown>): Promise<{ status: number; message: string; fields?: string[] }> {
  const error = await work.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof CallError)) throw error;
  const { status, message, body } = error;
  return { status, message, ...(body?.fieldsWithError && { fields: body.fieldsWithError }) };
}

describe('a promo code', () => {
  it('is created by an operator, adds its amount, and is listed with its uses', async () => {
    const { entity: made } = await operator.client(api.promoCodes.create, {
      code: ' spring-26 ',
      amount: '7.5',
      uses: 2,
      expiresAt: IN_A_DAY(),
      note: 'conference',
    });
    expect(made).toMatchObject({ code: 'SPRING-26', status: 'open', uses: 0, usesMax: 2, note: 'conference' });
    const before = await balance(alice);
    const { amount } = await alice.client(api.promoCodes.activate, { promoCode: ' Spring-26' });
    expect(amount).toEqual({ currency: 'STAGI', decimalValue: '7.50' });
    expect(await balance(alice)).toBe(before + 7.5);
    const { entities, totalCount } = await operator.client(api.promoCodes.list, {
      entityFilterRequest: { queryString: 'confer' },
    });
    expect({ totalCount, entities }).toMatchObject({
      totalCount: 1,
      entities: [{ code: 'SPRING-26', uses: 1, createdBy: { name: 'Olga' } }],
    });
    const { entities: acts } = await alice.client(api.transactions.list, { types: ['Deposit'] });
    expect(acts.map(({ kind, amount: { decimalValue } }) => [kind, decimalValue])).toEqual([
      ['promo', '7.50'],
      ['starter', '50.00'],
    ]);
  });

  it('gets a random code when none is given', async () => {
    const make = () => operator.client(api.promoCodes.create, { amount: '1', uses: 1, expiresAt: IN_A_DAY() });
    const codes = (await Promise.all([make(), make(), make()])).map(({ entity }) => entity.code);
    expect(new Set(codes).size).toBe(3);
    for (const code of codes) expect(code).toMatch(/^([A-HJKMNP-Z2-9]{4}-){2}[A-HJKMNP-Z2-9]{4}$/);
  });

  it('says why it is refused', async () => {
    const { db } = app.ctx;
    const used = await aPromoCode(app.ctx);
    const [expired, revoked, spent] = [
      await aPromoCode(app.ctx, { expiresAt: new Date(Date.now() - 1_000) }),
      await aPromoCode(app.ctx),
      await aPromoCode(app.ctx),
    ];
    await alice.client(api.promoCodes.activate, { promoCode: used.code });
    await operator.client(api.promoCodes.revoke, { id: revoked.id });
    await db.updateTable('promo_code').set({ uses: 1 }).where('id', '=', spent.id).execute();
    const before = await balance(alice);
    const say = (promoCode: string) => refusal(alice.client(api.promoCodes.activate, { promoCode }));
    expect(await say(used.code)).toEqual({ status: 200, message: 'You have already used this promo code' });
    expect(await say(expired.code)).toEqual({ status: 200, message: 'This promo code has expired' });
    expect(await say(revoked.code)).toEqual({ status: 200, message: 'This promo code is no longer valid' });
    expect(await say(spent.code)).toEqual({ status: 200, message: 'This promo code has been used up' });
    expect(await say('NOBODY-MADE-IT')).toEqual({
      status: 400,
      message: 'This promo code does not exist',
      fields: ['promoCode'],
    });
    expect(await say(' ')).toMatchObject({ status: 400, message: 'Promo code is required' });
    expect(await balance(alice)).toBe(before);
  });

  it('is not created when it exists, has expired, or has no amount', async () => {
    const { code } = await aPromoCode(app.ctx);
    const make = (change: object) =>
      refusal(operator.client(api.promoCodes.create, { amount: '1', uses: 1, expiresAt: IN_A_DAY(), ...change }));
    expect(await make({ code })).toMatchObject({ fields: ['code'], message: 'This promo code already exists' });
    expect(await make({ code: 'A_B' })).toMatchObject({ status: 400, fields: ['code'] });
    expect(await make({ expiresAt: new Date().toISOString() })).toMatchObject({ fields: ['expiresAt'] });
    for (const amount of ['0', '0.000000', '-1', '1e3', '1.0000001', '1000000', 'NaN', ''])
      expect.soft(await make({ amount }), amount).toMatchObject({ status: 400, fields: ['amount'] });
    for (const uses of [0, -1, 1.5, 1_000_001])
      expect.soft(await make({ uses }), String(uses)).toMatchObject({ status: 400, fields: ['uses'] });
  });

  it('is rate limited against guessing, also with the right code', async () => {
    const guesser = await app.signUp('Gus');
    const { code } = await aPromoCode(app.ctx);
    let tries = 0;
    for (; tries < 40; tries += 1) {
      const said = await refusal(guesser.client(api.promoCodes.activate, { promoCode: `GUESS-${tries}` }));
      if (said.status === 429) break;
    }
    expect(tries).toBe(10);
    expect(await refusal(guesser.client(api.promoCodes.activate, { promoCode: code }))).toMatchObject({ status: 429 });
    await sql`update attempt set next_at = now()`.execute(app.ctx.db);
    await guesser.client(api.promoCodes.activate, { promoCode: code });
  });

  it('can be used once per person, across their workspaces and after signing up again with the same address', async () => {
    const person = await app.signUp('Petra');
    const { code } = await aPromoCode(app.ctx, { uses: 10 });
    await person.client(api.promoCodes.activate, { promoCode: code });
    const { entity } = await person.client(api.clients.create, { name: 'Second' });
    person.useWorkspace(entity.clientId);
    expect(await refusal(person.client(api.promoCodes.activate, { promoCode: code }))).toMatchObject({
      message: 'You have already used this promo code',
    });
    // Simulates a new sign-up with the same address.
    await app.ctx.db
      .updateTable('app_user')
      .set({ email: 'gone@example.com' })
      .where('id', '=', person.userId)
      .execute();
    const [again] = await people(1, person.email);
    await expect(activateFor(again!, code)).resolves.toBe('You have already used this promo code');
  });

  it('is used exactly as often as allowed, also in parallel', async () => {
    const { id, code } = await aPromoCode(app.ctx, { uses: 5 });
    const racers = await people(100);
    // No more at once than the pool has connections, or some would be refused with 503.
    const outcomes: string[] = [];
    const race = async (): Promise<void> => {
      for (let racer = racers.pop(); racer; racer = racers.pop()) outcomes.push(await activateFor(racer, code));
    };
    await Promise.all(Array.from({ length: 10 }, race));
    console.log(`promo code: n = ${outcomes.length} activations of 5 uses`);
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === 'This promo code has been used up')).toHaveLength(95);
    const { rows } = await sql<{ n: number; sum: bigint }>`select count(*)::int as n, sum(t.amount)::bigint as sum
      from promo_activation p join billing_transaction t on t.journal_id = p.journal_id where promo_code_id = ${id}`.execute(
      app.ctx.db,
    );
    expect(rows).toEqual([{ n: 5, sum: 25_000_000n }]);
  });

  it('is used once by one person who sends it in parallel', async () => {
    const { code } = await aPromoCode(app.ctx, { uses: 100 });
    const before = await balance(alice);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => alice.client(api.promoCodes.activate, { promoCode: code })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await balance(alice)).toBe(before + 5);
  });
});

interface Racer {
  userId: number;
  workspaceId: number;
}

/** People with a workspace each, created faster than by signing up. */
async function people(count: number, address?: string): Promise<Racer[]> {
  const { db } = app.ctx;
  const made: Racer[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id: userId } = await db
      .insertInto('app_user')
      .values({ email: address ?? `racer-${n}-${count}@example.com`, name: `Racer ${n}` })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { id: workspaceId } = await db
      .insertInto('workspace')
      .values({ name: 'Racing', personal_of: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    await openAccounts(db, workspaceId);
    made.push({ userId, workspaceId });
  }
  return made;
}

async function activateFor(racer: Racer, code: string): Promise<string> {
  try {
    await app.ctx.db.transaction().execute((trx) => activate(app.ctx, trx, { ...racer, code }));
    return 'done';
  } catch (error) {
    if (error instanceof PublicError) return error.message;
    throw error;
  }
}
