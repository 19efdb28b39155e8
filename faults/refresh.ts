import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { createSession } from '@stagi/server/src/sessions/sessions.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { httpSender } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { type Random, seeded } from './random.ts';

/** A tab sees the writes of another one with this delay. */
const STORAGE_LAG_MS = 15;
const AT_ONCE = 4;

export const KINDS = [
  'honest',
  'thief before',
  'thief before, at once',
  'thief after',
  'thief after, at once',
] as const;
type Kind = (typeof KINDS)[number];

export interface RaceReport {
  races: Record<Kind, number>;
  tabs: number;
  refreshes: number;
  falseSignOuts: number;
  survivingThieves: number;
  wrong: string[];
}

/**
 * Tabs of one browser with an expired access token, without locks between them: all request new tokens at about the
 * same time. In most races a thief has copied the refresh token, and uses it before or after them.
 */
export async function runRaces(app: TestApp, userId: number, races: number, seed: number): Promise<RaceReport> {
  const report: RaceReport = {
    races: { honest: 0, 'thief before': 0, 'thief before, at once': 0, 'thief after': 0, 'thief after, at once': 0 },
    tabs: 0,
    refreshes: 0,
    falseSignOuts: 0,
    survivingThieves: 0,
    wrong: [],
  };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < races) {
      const index = next++;
      await race(app, userId, KINDS[index % KINDS.length]!, seeded(seed + index), report);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return report;
}

async function race(app: TestApp, userId: number, kind: Kind, random: Random, report: RaceReport): Promise<void> {
  const { ctx } = app;
  const first = await createSession(
    { ...ctx, ip: '127.0.0.1', userAgent: 'race', language: 'en' },
    ctx.db,
    userId,
    'email',
  );
  const browser = openBrowser(app.url, first, random.between(2, 8), random);
  const thief = openBrowser(app.url, first, 1, random);
  report.races[kind] += 1;
  report.tabs += browser.tabs;

  if (kind === 'honest') {
    for (let round = 0; round < 3; round += 1) {
      await browser.callsInAllTabs();
      if (random() < 0.5) await timePasses(app, first);
    }
    report.falseSignOuts += browser.signOuts();
    if (!(await lives(app, browser.tokens()))) report.wrong.push('an honest session is over');
  } else {
    const thiefFirst = kind.startsWith('thief before');
    const [one, other] = thiefFirst ? [thief, browser] : [browser, thief];
    await one.callsInAllTabs();
    if (!kind.endsWith('at once')) await timePasses(app, first);
    await other.callsInAllTabs();
    // Within ten seconds both got the same successor. Each then uses it once more, in any order.
    for (const user of random.shuffle([thief, browser])) {
      await timePasses(app, first);
      await user.callsInAllTabs();
    }
    const why = await whyOver(app, first);
    if (why !== 'refresh token reused') report.wrong.push(`${kind}: the session is ${why ?? 'not over'}`);
    if (await lives(app, thief.tokens())) report.survivingThieves += 1;
  }
  report.refreshes += browser.refreshes() + thief.refreshes();
}

interface Browser {
  tabs: number;
  /** Every tab finds its access token expired and makes a call. */
  callsInAllTabs(): Promise<void>;
  tokens(): Tokens;
  signOuts(): number;
  refreshes(): number;
}

function openBrowser(url: string, first: Tokens, tabs: number, random: Random): Browser {
  let stored = first;
  let signOuts = 0;
  let refreshes = 0;
  const send = httpSender(url);
  const clients = Array.from({ length: tabs }, () => {
    let seen = stored;
    const client = createClient({
      send: (path, body, options) => {
        if (path === api.auth.exchangeRefreshToken.path) refreshes += 1;
        return send(path, body, options);
      },
      session: {
        get: () => seen,
        set(next) {
          seen = next;
          stored = next;
        },
      },
      clientId: () => null,
      on: { signedOut: () => (signOuts += 1) },
    });
    return {
      async call(): Promise<void> {
        // This tab sees an older state of the storage.
        seen = { ...stored, accessToken: 'expired' };
        await pause(random() * STORAGE_LAG_MS);
        await client(api.user.profile, {}).catch((error: unknown) => {
          if (!(error instanceof CallError) || error.status !== 401) throw error;
        });
      },
    };
  });
  return {
    tabs,
    async callsInAllTabs() {
      await Promise.all(clients.map(({ call }) => call()));
    },
    tokens: () => stored,
    signOuts: () => signOuts,
    refreshes: () => refreshes,
  };
}

/** Moves the time past the ten seconds in which a race is tolerated. */
async function timePasses({ ctx }: TestApp, { accessToken }: Tokens): Promise<void> {
  await sql`update refresh_token set used_at = used_at - interval '11 seconds'
    where session_id = ${sessionOf(accessToken)} and used_at is not null`.execute(ctx.db);
}

async function whyOver({ ctx }: TestApp, { accessToken }: Tokens): Promise<string | null> {
  const session = ctx.db.selectFrom('session').select('revoked_reason').where('id', '=', sessionOf(accessToken));
  return (await session.executeTakeFirstOrThrow()).revoked_reason;
}

/** Whether these tokens still work, for a call or for a refresh. */
async function lives(app: TestApp, { accessToken, refreshToken }: Tokens): Promise<boolean> {
  const called = await app.post(api.user.profile.path, {}, { authorization: `Bearer ${accessToken}` });
  const renewed = await app.post(api.auth.exchangeRefreshToken.path, { refreshToken });
  return called.status === 200 || renewed.status === 200;
}

export function sessionOf(accessToken: string): string {
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as { sid: string };
  return claims.sid;
}
