import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aPromoCode } from '../testing/factories.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
let made = 0;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

async function aCode(uses = 10): Promise<string> {
  made += 1;
  return (await aPromoCode(app.ctx, { code: `AGAIN-${made}`, micro: 1_000_000n, uses })).code;
}

const activate = (promoCode: string, key: string, by = alice) =>
  app.post(
    api.promoCodes.activate.path,
    { promoCode },
    {
      authorization: `Bearer ${by.tokens().accessToken}`,
      'x-client-id': String(by.workspaceId),
      'idempotency-key': key,
    },
  );
const balance = async () => (await alice.client(api.billing.balance, {})).clientBalance.STAGI.decimalValue;

it('repeats the answer to the same request, refuses another one with its key (422), and keeps users’ keys apart', async () => {
  const bob = await app.signUp();
  const [code, other] = [await aCode(), await aCode()];
  const first = await activate(code, 'one');
  expect(first).toMatchObject({ status: 200, body: { isSuccess: true } });
  expect(await activate(code, 'one')).toEqual(first);
  expect(await activate(other, 'one')).toMatchObject({ status: 422, body: { isSuccess: false } });
  expect(await activate(other, 'one', bob)).toMatchObject({ status: 200, body: { isSuccess: true } });
  expect(await activate(code, 'one')).toEqual(first);
  expect(await balance()).toBe('51.00');
});

it('answers a retry with 409 while the request runs, and with its answer afterwards', async () => {
  const code = await aCode();
  const holder = await app.ctx.db.startTransaction().execute();
  await sql`select 1 from promo_code where code = ${code} for update`.execute(holder);
  const first = activate(code, 'under-way');
  await waitForBlockedStatements(app.ctx.db);
  expect(await activate(code, 'under-way')).toMatchObject({ status: 409, body: { isSuccess: false } });
  await holder.commit().execute();
  expect(await first).toMatchObject({ status: 200, body: { isSuccess: true } });
  expect(await activate(code, 'under-way')).toEqual(await first);
  expect(await balance()).toBe('51.00');
});

it('repeats a refusal though its reason is gone, and runs a failed request again', async () => {
  const code = await aCode(1);
  await sql`update promo_code set uses = 1 where code = ${code}`.execute(app.ctx.db);
  const refusal = await activate(code, 'refused');
  expect(refusal).toMatchObject({
    status: 200,
    body: { isSuccess: false, message: 'This promo code has been used up' },
  });
  await sql`update promo_code set uses_max = 5 where code = ${code}`.execute(app.ctx.db);
  const again = await activate(code, 'refused');
  expect([again.status, { ...(again.body as object), requestId: '' }]).toEqual([
    refusal.status,
    { ...(refusal.body as object), requestId: '' },
  ]);

  await sql`create function break() returns trigger language plpgsql as 'begin raise exception $$broken$$; end'`.execute(
    app.ctx.db,
  );
  await sql`create trigger break before insert on promo_activation execute function break()`.execute(app.ctx.db);
  expect((await activate(code, 'broke')).status).toBe(500);
  await sql`drop trigger break on promo_activation`.execute(app.ctx.db);
  expect(await balance()).toBe('50.00');
  expect(await activate(code, 'broke')).toMatchObject({ status: 200, body: { isSuccess: true } });
  expect(await balance()).toBe('51.00');
});

it('repeats the answer also to a caller who is rate limited by now', async () => {
  const code = await aCode();
  const done = await activate(code, 'done');
  let refused = 200;
  for (let n = 0; n < 20 && refused !== 429; n += 1) refused = (await activate(`WRONG-${n}`, `wrong-${n}`)).status;
  expect(refused).toBe(429);
  expect(await activate(code, 'done')).toEqual(done);
});

it('keeps answers for 30 days', async () => {
  const code = await aCode();
  const done = await activate(code, 'old');
  const ageBy = (days: number) =>
    sql`update idempotency set created_at = now() - make_interval(days => ${days}) where key = 'old'`.execute(
      app.ctx.db,
    );
  await ageBy(29);
  await cleanUp(app.ctx);
  expect(await activate(code, 'old')).toEqual(done);
  await ageBy(31);
  await cleanUp(app.ctx);
  expect(await activate(code, 'old')).toMatchObject({
    body: { isSuccess: false, message: 'You have already used this promo code' },
  });
});
