import { api, everyCall } from '@stagi/contract/api.ts';
import { API_PREFIX, type Call } from '@stagi/contract/call.ts';
import Fastify, { type FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OF_A_WORKSPACE } from '../db/isolation.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import type { Handlers } from '../http/handlers.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { isCrossWorkspace } from './crossWorkspaceCalls.ts';
import { mount } from './mount.ts';
import { ABSENT } from './testing/sample.ts';
import { SAMPLES } from './testing/samples.ts';
import { rowsInEveryTable } from './testing/workspaceRows.ts';

const TABLES = Object.keys(OF_A_WORKSPACE);

/** Every call as it would be if its handler queried all rows. */
describe('a handler that forgets to filter by workspace', () => {
  let app: TestApp;
  let forgetful: FastifyInstance;
  let alice: Person;
  let theirs: Record<string, string[]>;
  let seen: Record<string, string[]> | Error;
  let calls = 0;

  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp('Alice');
    const bob = await app.signUp('Bob');
    for (const person of [alice, bob]) await rowsInEveryTable(app, person);
    theirs = await everything(app.ctx.within(bob.workspaceId));
    for (const table of TABLES) expect(theirs[table]!.length, table).toBeGreaterThan(0);
    await markSteppedUp(app.ctx, alice);
    forgetful = Fastify();
    mount(forgetful, app.ctx, handlersThat(lookAtEverything));
    await forgetful.ready();
  });
  afterAll(async () => {
    console.log(`forgetful handlers: n = ${calls} calls, each at ${TABLES.length} tables`);
    await forgetful?.close();
    await app?.close();
  });

  async function lookAtEverything({ db }: { db: Db }): Promise<never> {
    seen = await everything(db).catch((error: Error) => error);
    // Nothing of it stays, and no answer has to fit.
    throw refused('seen');
  }

  async function make(call: Call): Promise<void> {
    seen = new Error('not called');
    const reply = await forgetful.inject({
      method: 'POST',
      url: API_PREFIX + call.path,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${alice.tokens().accessToken}`,
        'x-client-id': String(alice.workspaceId),
        'idempotency-key': `forgetful-${calls}`,
      },
      payload: JSON.stringify(SAMPLES[call.path]?.input(ABSENT) ?? {}),
    });
    expect(reply.json(), call.path).toMatchObject({ message: 'seen' });
    calls += 1;
  }

  const guarded = everyCall().filter(({ auth }) => auth !== 'public');

  it('shows the rows of the chosen workspace and no others, whatever the call', async () => {
    for (const call of guarded.filter((one) => one.auth !== 'signed-in' && !isCrossWorkspace(one))) {
      await make(call);
      for (const table of TABLES) {
        const rows = seen instanceof Error ? [] : seen[table]!;
        expect(rows.length, `${call.path} ${table}`).toBeGreaterThan(0);
        expect(
          rows.filter((row) => theirs[table]!.includes(row)),
          `${call.path} ${table}`,
        ).toEqual([]);
      }
    }
  });

  it('fails where the call is made in no workspace', async () => {
    for (const call of guarded.filter((one) => one.auth === 'signed-in' && !isCrossWorkspace(one))) {
      await make(call);
      expect(seen, call.path).toMatchObject({ code: '42501' });
    }
  });

  it('sees everything only in the calls that are listed as crossing workspaces', async () => {
    await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', alice.userId).execute();
    const beyond = everyCall().filter(isCrossWorkspace);
    expect(beyond.length).toBeGreaterThan(0);
    for (const call of beyond.filter(({ auth }) => auth !== 'public')) {
      await make(call);
      expect(seen, call.path).not.toBeInstanceOf(Error);
    }
    expect(isCrossWorkspace(api.instances.list)).toBe(false);
  });
});

async function everything(db: Db): Promise<Record<string, string[]>> {
  const seen: Record<string, string[]> = {};
  for (const table of TABLES) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(table)} t`.execute(db);
    seen[table] = rows.map(({ row }) => row);
  }
  return seen;
}

function handlersThat(handle: unknown): Handlers {
  const each = (calls: object): object => Object.fromEntries(Object.keys(calls).map((name) => [name, handle]));
  return Object.fromEntries(Object.entries(api).map(([domain, calls]) => [domain, each(calls)])) as unknown as Handlers;
}
