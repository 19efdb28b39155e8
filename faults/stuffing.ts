import { randomBytes } from 'node:crypto';
import { hashSecret } from '@stagi/server/src/passwords/hashing.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { mailedCode } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import type { Random } from './random.ts';

const PASSWORD = 'Correct-horse-7';
/** The number of simultaneous guesses at one account, each from an address and a browser of its own. */
const BOTS = 8;
/** How often an owner recovers their password and a new person signs up, both under attack. */
const RECOVERY_EVERY_MINUTES = 5;
/** More requests at once than may run or wait for hashing. */
const FLOOD = 60;

export type Guessed = 'password' | 'reset code' | 'sign-up code';

export interface StuffingReport {
  accounts: number;
  minutes: number;
  /** Requests of the attackers, those whose guess was checked, and the most for one account. */
  sent: Record<Guessed, number>;
  allowed: Record<Guessed, number>;
  most: Record<Guessed, number>;
  /** The answers to the requests of the flood. */
  flood: Record<string, number>;
  /** The actions of the owners, and those that failed at the first try. */
  owners: Record<'sign-in' | 'recovery' | 'sign-up' | 'sign-in in the flood', { n: number; failed: string[] }>;
  slowestOwnerMs: number;
  brokenIn: string[];
}

interface Owner {
  email: string;
  password: string;
  /** The cookie of the browser they have signed in from. */
  cookie: string;
}

/**
 * Many addresses and browsers guess passwords and mailed codes of a few accounts for this many minutes, and try a list
 * of stolen passwords. Meanwhile the owners sign in and recover their passwords, and new people sign up. The clock of
 * the rate limits moves by a minute after each round.
 */
export async function runStuffing(
  { accounts, minutes, floods }: { accounts: number; minutes: number; floods: number },
  random: Random,
): Promise<StuffingReport> {
  const app = await startTestApp({ TRUST_PROXY: '127.0.0.1', SIGN_INS_PER_MINUTE: '20' });
  try {
    const attack = beginAttack(app, random, { accounts, minutes });
    const owners = await manyOwners(app, attack, accounts);
    for (let minute = 0; minute < minutes; minute += 1) {
      for (const [index, owner] of owners.entries()) await attack.minuteAt(owner, minute, index);
      await minutePasses(app);
    }
    await attack.flood(owners, floods);
    return attack.report();
  } finally {
    await app.close();
  }
}

async function manyOwners(app: TestApp, attack: Attack, accounts: number): Promise<Owner[]> {
  const password_hash = await hashSecret(PASSWORD);
  const owners = Array.from({ length: accounts }, (_, index) => ({
    email: `owner${index}@example.com`,
    password: PASSWORD,
    cookie: '',
  }));
  await app.ctx.db
    .insertInto('app_user')
    .values(owners.map(({ email }) => ({ email, name: 'Owner', password_hash, email_verified_at: new Date() })))
    .execute();
  for (const owner of owners) owner.cookie = (await attack.ask('auth/email/authentication', owner, '')).cookie;
  return owners;
}

/** The limits of accounts and codes live in the database. */
async function minutePasses({ ctx }: TestApp): Promise<void> {
  const minute = sql`interval '1 minute'`;
  await sql`update attempt set next_at = next_at - ${minute}, last_at = last_at - ${minute}`.execute(ctx.db);
  await sql`update password_reset set created_at = created_at - ${minute}, expires_at = expires_at - ${minute}`.execute(
    ctx.db,
  );
  await sql`update pending_registration set created_at = created_at - ${minute}, sent_at = sent_at - ${minute},
    expires_at = expires_at - ${minute}`.execute(ctx.db);
}

type CodeTable = 'password_reset' | 'pending_registration';

async function looks({ ctx }: TestApp, table: CodeTable, email: string): Promise<number> {
  const { rows } = await sql<{ looks: number }>`
    select coalesce(sum(tries + stranger_tries), 0)::int as looks from ${sql.table(table)} where email = ${email}`.execute(
    ctx.db,
  );
  return rows[0]?.looks ?? 0;
}

interface Reply {
  status: number;
  body: { flow?: string; message?: string };
  cookie: string;
  ms: number;
}
type Attack = ReturnType<typeof beginAttack>;

function beginAttack(app: TestApp, random: Random, size: { accounts: number; minutes: number }) {
  const none = (): Record<Guessed, number> => ({ password: 0, 'reset code': 0, 'sign-up code': 0 });
  const perAccount = new Map<string, Record<Guessed, number>>();
  const report: StuffingReport = {
    ...size,
    sent: none(),
    allowed: none(),
    most: none(),
    flood: {},
    owners: {
      'sign-in': { n: 0, failed: [] },
      recovery: { n: 0, failed: [] },
      'sign-up': { n: 0, failed: [] },
      'sign-in in the flood': { n: 0, failed: [] },
    },
    slowestOwnerMs: 0,
    brokenIn: [],
  };

  /**
   * Every request comes from a new address, those of owners too: the rate limit of addresses counts real minutes, and
   * here an hour takes less.
   */
  async function ask(path: string, input: object, cookie: string): Promise<Reply> {
    const address = [10, ...[0, 0, 0].map(() => random.between(0, 255))].join('.');
    const since = performance.now();
    const response = await fetch(`${app.url}/frontend-api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...(cookie && { cookie }) },
      body: JSON.stringify(input),
    });
    const body = (await response.json()) as Reply['body'];
    const kept = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return { status: response.status, body, cookie: kept, ms: performance.now() - since };
  }

  async function guess(kind: Guessed, email: string, path: string, input: object): Promise<void> {
    const forged = random() < 0.5 ? `stagi-device=${randomBytes(32).toString('base64url')}` : '';
    const { status } = await ask(path, { email, ...input }, forged);
    report.sent[kind] += 1;
    if (status === 200) report.brokenIn.push(`${kind} of ${email}`);
    if (kind === 'password' && status !== 429) bear(kind, email, 1);
  }

  /**
   * A guessed code gets the same answer whether it was checked or not: the count of checked ones comes from the
   * database.
   */
  async function guessCodes(kind: Guessed, table: CodeTable, email: string, guesses: Promise<void>[]): Promise<void> {
    const before = await looks(app, table, email);
    await Promise.all(guesses);
    bear(kind, email, (await looks(app, table, email)) - before);
  }

  function bear(kind: Guessed, email: string, looked: number): void {
    const borne = perAccount.get(email) ?? none();
    borne[kind] += looked;
    perAccount.set(email, borne);
    report.allowed[kind] += looked;
    report.most[kind] = Math.max(report.most[kind], borne[kind]);
  }

  /** An action of an owner: it must succeed at the first try. */
  async function must(what: keyof StuffingReport['owners'], act: Promise<Reply>): Promise<Reply> {
    const reply = await act;
    report.owners[what].n += 1;
    report.slowestOwnerMs = Math.max(report.slowestOwnerMs, reply.ms);
    if (reply.status !== 200) report.owners[what].failed.push(`${reply.status} ${reply.body.message}`);
    return reply;
  }

  const bots = (act: () => Promise<void>): Promise<void>[] => Array.from({ length: BOTS }, act);
  const eightDigits = (): string => String(random.between(0, 99_999_999)).padStart(8, '0');
  const newPassword = (): string => `Fresh-battery-${random.between(10_000, 99_999)}`;

  /** A guess without a flow is for the newest code of the address, the owner's own. */
  async function guessResetCodes(email: string, flow: string | undefined): Promise<void> {
    const input = () => ({ code: eightDigits(), newPassword: newPassword(), flow: random() < 0.5 ? flow : undefined });
    const guesses = bots(() => guess('reset code', email, 'auth/email/reset-password', input()));
    await guessCodes('reset code', 'password_reset', email, guesses);
  }

  async function guessSignUpCodes(email: string, flow: string | undefined): Promise<void> {
    const input = () => ({ code: eightDigits(), flow: random() < 0.5 ? flow : undefined });
    const guesses = bots(() => guess('sign-up code', email, 'auth/email/verify-code', input()));
    await guessCodes('sign-up code', 'pending_registration', email, guesses);
  }

  async function recover(owner: Owner): Promise<void> {
    const asked = await must('recovery', ask('auth/email/reset-password-code', { email: owner.email }, owner.cookie));
    if (asked.status !== 200) return;
    const code = await mailedCode(app.url, owner.email);
    await guessResetCodes(owner.email, undefined);
    const password = newPassword();
    const input = { email: owner.email, code, newPassword: password, flow: asked.body.flow };
    const { status, cookie } = await must('recovery', ask('auth/email/reset-password', input, owner.cookie));
    if (status === 200) Object.assign(owner, { password, cookie });
  }

  /** A new person, whose address the attackers know as well. */
  async function newcomer(name: string): Promise<void> {
    const email = `${name}@example.com`;
    const input = { name, email, password: PASSWORD };
    const { status, body } = await must('sign-up', ask('auth/email/register', input, ''));
    if (status !== 200) return;
    const code = await mailedCode(app.url, email);
    await guessSignUpCodes(email, undefined);
    await sql`update pending_registration set sent_at = sent_at - interval '1 minute' where email = ${email}`.execute(
      app.ctx.db,
    );
    await ask('auth/email/resend-code', { email }, '');
    const theirs = await ask('auth/email/register', { ...input, password: newPassword() }, '');
    await guessSignUpCodes(email, theirs.body.flow);
    await must('sign-up', ask('auth/email/verify-code', { email, code, flow: body.flow }, ''));
  }

  return {
    ask,
    report: () => report,

    async minuteAt(owner: Owner, minute: number, index: number): Promise<void> {
      const { email } = owner;
      const input = () => ({ password: newPassword() });
      const passwords = bots(() => guess('password', email, 'auth/email/authentication', input()));
      const { body } = await ask('auth/email/reset-password-code', { email }, '');
      await guessResetCodes(email, body.flow);
      await must('sign-in', ask('auth/email/authentication', { email, password: owner.password }, owner.cookie));
      await Promise.all(passwords);
      if (minute % RECOVERY_EVERY_MINUTES !== 0) return;
      await recover(owner);
      await newcomer(`newcomer${index}-${minute}`);
    },

    /**
     * Stolen pairs of addresses and passwords, as fast as they are answered; most of them are of people without an
     * account.
     */
    async flood(owners: readonly Owner[], requests: number): Promise<void> {
      let left = requests;
      const bot = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const email = random() < 0.1 ? random.pick(owners).email : `listed${random.between(0, 1e9)}@example.com`;
          const { status } = await ask('auth/email/authentication', { email, password: newPassword() }, '');
          report.flood[status] = (report.flood[status] ?? 0) + 1;
          if (status === 200) report.brokenIn.push(`${email} in the flood`);
        }
      };
      const owner = async ({ email, password, cookie }: Owner): Promise<void> => {
        while (left > 0)
          await must('sign-in in the flood', ask('auth/email/authentication', { email, password }, cookie));
      };
      await Promise.all([...Array.from({ length: FLOOD }, bot), ...owners.slice(0, 2).map(owner)]);
    },
  };
}

/** Prints the figures with their n, and returns the failures. */
export function reportStuffing(report: StuffingReport, say: (line: string) => void): string[] {
  const { accounts, minutes, sent, allowed, most, flood, owners, slowestOwnerMs, brokenIn } = report;
  const failures = brokenIn.slice(0, 20).map((what) => `broken in: ${what}`);
  for (const kind of Object.keys(sent) as Guessed[]) {
    say(
      `stuffing, ${kind}s: n = ${sent[kind]} guesses in ${minutes} min at ${accounts} accounts, ${allowed[kind]} looked at, ` +
        `${most[kind]} at the account that had to bear most`,
    );
    if (sent[kind] === 0 || allowed[kind] === 0) failures.push(`${kind}: n = 0`);
  }
  const answers = Object.entries(flood).map(([status, count]) => `${count} × ${status}`);
  const flooded = Object.values(flood).reduce((sum, count) => sum + count, 0);
  say(`stuffing, flood of ${FLOOD} at once: n = ${flooded}, answered ${answers.join(', ')}`);
  // Without refusals the flood would not have competed with the owners.
  if (!flood['429']) failures.push('the flood filled no queue');
  for (const [what, { n, failed }] of Object.entries(owners)) {
    say(`owners, ${what}: n = ${n}, ${n - failed.length} succeeded at the first try`);
    if (n === 0) failures.push(`${what}: n = 0`);
    if (failed.length > 0) failures.push(`${what}: ${failed.length} failed: ${[...new Set(failed)].join('; ')}`);
  }
  say(`owners: slowest ${slowestOwnerMs.toFixed(0)} ms`);
  return failures;
}
