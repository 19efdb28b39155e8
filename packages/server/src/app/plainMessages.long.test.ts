import { everyCall } from '@stagi/contract/api.ts';
import { API_PREFIX, type Call } from '@stagi/contract/call.ts';
import { isErrorBody } from '@stagi/contract/errors.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  alice = await app.signUp();
});
afterAll(() => app?.close());

/** As an operator who owns a workspace: nothing but the input is wrong. */
async function post(person: Person, path: string, body: unknown) {
  const reply = await app.post(path, body, {
    authorization: `Bearer ${person.tokens().accessToken}`,
    'x-client-id': String(person.workspaceId),
    'idempotency-key': crypto.randomUUID(),
  });
  return { status: reply.status, body: isErrorBody(reply.body) ? reply.body : null };
}

const VALIDATOR =
  /expected|received|invalid input|invalid option|invalid string|too big|too small|unrecognized key|zod/i;

/** A value that fits no field, for every field of the call. */
function wrongEverywhere(call: Call): Record<string, unknown> {
  const schema = z.toJSONSchema(call.input, { io: 'input', unrepresentable: 'any' });
  const variants = [schema, ...((schema.anyOf ?? schema.oneOf ?? []) as (typeof schema)[])];
  const names = variants.flatMap(({ properties }) => Object.keys(properties ?? {}));
  return Object.fromEntries(names.map((name) => [name, [[]]]));
}

describe('a reply to input that does not fit', () => {
  it.each([
    ['ssh-key/list', { entityFilterRequest: { limit: 101 } }, 'entityFilterRequest.limit', 'less than or equal to 100'],
    ['ssh-key/list', { entityFilterRequest: { page: 0 } }, 'entityFilterRequest.page', 'greater than or equal to 1'],
    ['ssh-key/list', { entityFilterRequest: { limit: 'all' } }, 'entityFilterRequest.limit', 'must be a number'],
    ['ssh-key/list', { entityFilterRequest: 7 }, 'entityFilterRequest', 'must be an object'],
    ['instance-rented/view', {}, 'id', 'is a required field'],
    ['ssh-key/delete', { id: 1.5 }, 'id', 'must be a whole number'],
  ])('says plainly what is wrong: %s %j', async (path, body, field, words) => {
    const reply = await post(alice, path, body);
    expect(reply.status).toBe(400);
    expect(reply.body?.fieldMessages?.[field]).toMatch(new RegExp(`^${field.replace('.', '\\.')} .*${words}`));
  });

  it('holds no word of the validator, whatever the call', async () => {
    const refused = { empty: 0, wrong: 0 };
    for (const call of everyCall()) {
      const person = await app.signUp();
      await makeOperator(app.ctx, person);
      await markSteppedUp(app.ctx, person);
      for (const [kind, input] of [
        ['wrong', wrongEverywhere(call)],
        ['empty', {}],
      ] as const) {
        const { status, body } = await post(person, call.path, input);
        if (status !== 400) continue;
        refused[kind] += 1;
        const said = [body?.message, ...Object.values(body?.fieldMessages ?? {})].join('\n');
        expect(said, `${API_PREFIX}${call.path} with ${kind} input`).not.toMatch(VALIDATOR);
      }
    }
    console.log(`calls refused for their input: n = ${refused.empty} empty, ${refused.wrong} wrong`);
    expect(refused.empty).toBeGreaterThan(50);
    expect(refused.wrong).toBeGreaterThan(100);
  });
});
