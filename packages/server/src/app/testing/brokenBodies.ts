import { everyCall } from '@stagi/contract/api.ts';
import { API_PREFIX, type Call } from '@stagi/contract/call.ts';
import { expect } from 'vitest';
import { z } from 'zod';
import { limitConcurrency } from '../../loops/concurrency.ts';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';

const WRONG = [null, 1e308, -1, true, {}, [[]], '', 'x'.repeat(5_000), '\u0000', '\ud800', { $ne: null }];

/** Bodies that are no object, or poison it, and objects with one field of the wrong kind at a time. */
function* brokenBodies(call: Call): Iterable<string> {
  yield* ['[]', '"text"', '1', 'null', '', '{', '{"a":1,}', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`];
  yield* ['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '{"x":1,"x":2}'];
  const { properties = {} } = z.toJSONSchema(call.input, { io: 'input', unrepresentable: 'any' });
  for (const name of Object.keys(properties)) for (const value of WRONG) yield JSON.stringify({ [name]: value });
}

/**
 * Sends every call broken bodies, of which none may end in an error of the server. With `oneIn`, each call gets one in so
 * many of them, and the next call others.
 */
export async function sendBrokenBodies(app: TestApp, person: Person, { oneIn }: { oneIn: number }): Promise<void> {
  let n = 0;
  for (const [index, call] of everyCall().entries()) {
    // Many of one call at once, as there are thousands; more than these would be shed.
    const limit = limitConcurrency(100);
    const bodies = [...brokenBodies(call)].filter((_, place) => (place + index) % oneIn === 0);
    const tries = bodies.map((body) =>
      limit(async () => {
        const response = await fetch(app.url + API_PREFIX + call.path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${person.tokens().accessToken}`,
            'x-client-id': String(person.workspaceId),
            'content-type': 'application/json',
            'idempotency-key': crypto.randomUUID(),
          },
          body,
        });
        await response.arrayBuffer();
        expect.soft(response.status, `${call.path} ${body.slice(0, 200)}`).toBeLessThan(500);
        n += 1;
      }),
    );
    await Promise.all(tries);
  }
  console.log(`broken bodies: n = ${n} over ${everyCall().length} calls`);
  expect(n).toBeGreaterThan(everyCall().length);
  expect(Object.prototype).not.toHaveProperty('polluted');
}
