import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../ledger/verify.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { mailedCode, PASSWORD } from '../testing/person.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', SIGN_INS_PER_MINUTE: '1000' });
});
afterAll(() => app?.close());

const GIVEN = { balance: '50.00', refused: null };
const OF_MAILBOX = { balance: '0.00', refused: 'mailbox' };
const OF_NETWORK = { balance: '0.00', refused: 'network' };

let made = 0;
const fresh = (domain = 'example.com'): string => {
  made += 1;
  return `person${made}@${domain}`;
};

/** Signs up through the calls from an address; what the new workspace holds, and how the account is deleted. */
async function signUp(email: string, ip?: string) {
  const from: Record<string, string> = ip === undefined ? {} : { 'x-forwarded-for': ip };
  await app.post('auth/email/register', { name: 'New', email, password: PASSWORD }, from);
  const code = await mailedCode(app.url, email.toLowerCase());
  const { body } = await app.post('auth/email/verify-code', { email, code }, from);
  const authorization = `Bearer ${(body as { accessToken: string }).accessToken}`;
  const profile = await app.post('user/profile', {}, { authorization });
  const { userId, clientRelations } = (
    profile.body as { userProfile: { userId: number; clientRelations: { clientId: number }[] } }
  ).userProfile;
  const clientId = String(clientRelations[0]!.clientId);
  const { body: shown } = await app.post('billing/balance', {}, { authorization, 'x-client-id': clientId });
  const { clientBalance, starterRefused } = shown as {
    clientBalance: { STAGI: { decimalValue: string } };
    starterRefused: string | null;
  };
  return {
    got: { balance: clientBalance.STAGI.decimalValue, refused: starterRefused },
    remove: async () => {
      await sql`update session set stepped_up_at = now() where user_id = ${userId}`.execute(app.ctx.db);
      const removed = await app.post('user/delete', { email: email.toLowerCase() }, { authorization });
      expect(removed.body).toEqual({ isSuccess: true });
    },
  };
}

const gets = async (email: string, ip?: string) => (await signUp(email, ip)).got;
const plus = (email: string, more: string): string => email.replace('@', `+${more}@`);

describe('starter credit of a mailbox', () => {
  it('is given once, whatever follows a plus, also for 10 accounts', async () => {
    const email = fresh();
    expect(await gets(email)).toEqual(GIVEN);
    for (let more = 0; more < 10; more += 1) expect(await gets(plus(email, `n${more}`))).toEqual(OF_MAILBOX);
    expect(await gets(plus(plus(email, 'a'), 'b'))).toEqual(OF_MAILBOX);
  });

  it('is given to the first of its addresses, which may be one with a plus', async () => {
    const email = fresh();
    expect(await gets(plus(email, 'first'))).toEqual(GIVEN);
    expect(await gets(email)).toEqual(OF_MAILBOX);
    expect(await gets(plus(email.toUpperCase(), 'Second'))).toEqual(OF_MAILBOX);
  });

  it('is told apart by dots, except at Google, which has two names', async () => {
    expect(await gets('d.o.t@example.com')).toEqual(GIVEN);
    expect(await gets('do.t@example.com')).toEqual(GIVEN);
    expect(await gets('g.race@gmail.com')).toEqual(GIVEN);
    for (const same of ['grace@gmail.com', 'gr.ace+x@gmail.com', 'grace@googlemail.com', 'G.R.ace@GoogleMail.com'])
      expect.soft(await gets(same), same).toEqual(OF_MAILBOX);
  });

  it('is one for all ways to write a letter; domains in other scripts are no addresses here', async () => {
    expect(await gets('zoe\u0308@example.com')).toEqual(GIVEN);
    expect(await gets('zo\u00eb+x@example.com')).toEqual(OF_MAILBOX);
    for (const email of ['ann@xn--mnchen-3ya.example', 'ann@m\u00fcnchen.example'])
      expect(await app.post('auth/email/register', { name: 'New', email, password: PASSWORD })).toMatchObject({
        status: 400,
        body: { fieldsWithError: ['email'] },
      });
  });

  it('is given to one of 8 sign-ups at once', async () => {
    const email = fresh();
    const got = await Promise.all(Array.from({ length: 8 }, (_, index) => gets(plus(email, `p${index}`))));
    expect(got.filter(({ balance }) => balance === '50.00')).toHaveLength(1);
    expect(got.filter(({ refused }) => refused === 'mailbox')).toHaveLength(7);
  });

  it('is not given again after the account was deleted, under this address or another one', async () => {
    const email = fresh();
    const { remove } = await signUp(plus(email, 'gone'));
    await remove();
    expect(await gets(plus(email, 'gone'))).toEqual(OF_MAILBOX);
    expect(await gets(email)).toEqual(OF_MAILBOX);
  });

  it('that an account got before mailboxes were noted was given', async () => {
    const email = fresh();
    const { remove } = await signUp(email);
    await sql`delete from starter_mailbox`.execute(app.ctx.db);
    expect(await gets(plus(email, 'x'))).toEqual(OF_MAILBOX);
    await remove();
    expect(await gets(plus(email, 'y'))).toEqual(OF_MAILBOX);
  });
});

describe('starter credits of a network', () => {
  it('are 20 a day, for all of an IPv6 /64, and more on the next day', async () => {
    for (let n = 0; n < 20; n += 1) expect(await gets(fresh(), `2001:db8:1:2::${n.toString(16)}`)).toEqual(GIVEN);
    const late = fresh();
    expect(await gets(late, '2001:db8:1:2:ffff::1')).toEqual(OF_NETWORK);
    expect(await gets(fresh(), '2001:db8:1:3::1')).toEqual(GIVEN);
    await sql`update starter_network set day = day - 1`.execute(app.ctx.db);
    expect(await gets(fresh(), '2001:db8:1:2::1')).toEqual(GIVEN);
    // Nobody of this mailbox has had it.
    expect(await gets(plus(late, 'again'), '2001:db8:1:2::1')).toEqual(GIVEN);
  });

  it('are 20 for sign-ups at once from an IPv4 address, however it is written', async () => {
    const ips = ['203.0.113.7', '::ffff:203.0.113.7'];
    const got = [];
    for (let round = 0; round < 5; round += 1)
      got.push(...(await Promise.all(Array.from({ length: 5 }, (_, n) => gets(fresh(), ips[n % 2])))));
    expect(got.filter(({ balance }) => balance === '50.00')).toHaveLength(20);
    expect(got.filter(({ refused }) => refused === 'network')).toHaveLength(5);
  });

  it('are not limited on loopback', async () => {
    for (let n = 0; n < 21; n += 1) expect((await app.signUp()).userId).toBeGreaterThan(0);
    expect(await gets(fresh())).toEqual(GIVEN);
  });
});

it('leaves a ledger that adds up', async () => {
  expect((await verifyLedger(app.ctx.db)).findings).toEqual([]);
});
