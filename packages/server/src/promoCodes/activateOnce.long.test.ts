import { Agent, request } from 'node:http';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aPromoCode } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const KEYS = 200;
const AT_ONCE = 50;

let app: TestApp;
let alice: Person;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
});
afterAll(async () => {
  agent.destroy();
  await app?.close();
});

/** A bare request, as there are thousands of them. */
function post(key: string, promoCode: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${app.url}${API_PREFIX}${api.promoCodes.activate.path}`,
      {
        agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${alice.tokens().accessToken}`,
          'x-client-id': String(alice.workspaceId),
          'idempotency-key': key,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify({ promoCode }));
  });
}

it('has one effect for one Idempotency-Key, however many requests come at once', async () => {
  const before = await app.ctx.db
    .selectFrom('journal')
    .select(sql<number>`count(*)::int`.as('n'))
    .executeTakeFirstOrThrow();
  const statuses = new Map<number, number>();
  for (let n = 0; n < KEYS; n += 1) {
    const { code } = await aPromoCode(app.ctx, { code: `TWICE-${n}`, micro: 1_000_000n, uses: 100 });
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => post(`key-${n}`, code)));
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const done = answers.filter(({ status }) => status === 200).map(({ text }) => text);
    expect(new Set(done).size, `answers to key ${n}`).toBe(1);
  }
  const { rows } = await sql<{ journals: number; activations: number; uses: number; given: bigint }>`
    select (select count(*)::int from journal) - ${before.n} as journals, (select count(*)::int from promo_activation) as activations,
      (select sum(uses)::int from promo_code) as uses,
      (select balance from account where code = ${`workspace:${alice.workspaceId}:credit`}) as given`.execute(
    app.ctx.db,
  );
  console.log(
    `identical requests: n = ${KEYS} keys × ${AT_ONCE}, answered ${JSON.stringify(Object.fromEntries(statuses))}, ${rows[0]!.journals - KEYS} duplicate effects`,
  );
  expect(rows).toEqual([{ journals: KEYS, activations: KEYS, uses: KEYS, given: BigInt(50 + KEYS) * 1_000_000n }]);
  // In progress, or too many at once: never anything else.
  expect([...statuses.keys()].filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
});
