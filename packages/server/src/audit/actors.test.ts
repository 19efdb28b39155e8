import { api } from '@stagi/contract/api.ts';
import { AUDIT_ACTORS_LISTED } from '@stagi/contract/audit.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOperator } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

/** So many people outside a log are called like some in it; more than a search sorts. */
const NAMESAKES = 1_100;

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  alice = await app.signUp('Alice');
  await alice.client(api.sshKeys.generate, { title: 'laptop' });
});
afterAll(() => app?.close());

const listed = async (person: Person, userIds?: number[]) => {
  const { actors, isMoreActors } = await person.client(api.audit.list, { userIds });
  return { names: actors.map(({ name }) => name), isMoreActors };
};
const found = async (queryString?: string) => {
  const entityFilterRequest = { queryString, limit: 20 };
  const { entities, isMore } = await alice.client(api.audit.listActors, { entityFilterRequest });
  return { names: entities.map(({ name }) => name), isMore };
};

it('names everybody who stands in a log of few, by name', async () => {
  await act('Zoe', 'Bob');
  expect(await listed(alice)).toEqual({ names: ['Alice', 'Bob', 'Zoe'], isMoreActors: undefined });
  expect(await listed(alice, [alice.userId])).toEqual({ names: ['Alice', 'Bob', 'Zoe'], isMoreActors: undefined });
});

it('of a log of many names those who are chosen, and finds the others by what is typed', async () => {
  const names = Array.from({ length: AUDIT_ACTORS_LISTED }, (_, n) => `Worker Number${n}`);
  const ids = await act(...names);
  await act('Ýlmaz Last', 'Worker-Renamed');
  expect(await listed(alice)).toEqual({ names: [], isMoreActors: true });
  // A stranger is in no log of hers.
  const stranger = await app.signUp('Worker Stranger');
  expect(await listed(alice, [ids[1]!, ids[0]!, stranger.userId])).toEqual({
    names: ['Worker Number0', 'Worker Number1'],
    isMoreActors: true,
  });

  expect((await found()).names.slice(0, 3)).toEqual(['Worker-Renamed', 'Ýlmaz Last', 'Worker Number49']);
  expect((await found()).names).toHaveLength(20);
  expect(await found('number4')).toMatchObject({
    names: ['4', '40', '41', '42', '43', '44', '45', '46', '47', '48', '49'].map((n) => `Worker Number${n}`),
  });
  expect(await found('ýlm')).toEqual({ names: ['Ýlmaz Last'], isMore: undefined });
  expect(await found('Stranger')).toEqual({ names: [], isMore: undefined });
  expect(await found(alice.email)).toEqual({ names: ['Alice'], isMore: undefined });
  const pages: string[] = [];
  for (const page of [1, 2, 3]) {
    const entityFilterRequest = { queryString: 'worker', limit: 20, page };
    const { entities, totalCount, totalPages } = await alice.client(api.audit.listActors, { entityFilterRequest });
    expect([totalCount, totalPages]).toEqual([AUDIT_ACTORS_LISTED + 1, 3]);
    pages.push(...entities.map(({ name }) => name));
  }
  expect(new Set(pages).size).toBe(AUDIT_ACTORS_LISTED + 1);
});

it('finds in the log those of a name that half the platform has', async () => {
  await sql`insert into app_user (email, name) select 'namesake' || n || '@example.com', 'Common Name'
    from generate_series(1, ${NAMESAKES}::int) n`.execute(app.ctx.db);
  expect(await found('common')).toEqual({ names: [], isMore: undefined });
  await act('Common Indeed');
  expect(await found('common')).toEqual({ names: ['Common Indeed'], isMore: undefined });
});

it('tells operators who stands in any log, and nobody else', async () => {
  const olga = await app.signUp('Olga');
  const ask = (workspaceId: number | null, queryString?: string) =>
    olga.client(api.audit.listActorsForOperators, { workspaceId, entityFilterRequest: { queryString } });
  await expect(ask(alice.workspaceId)).rejects.toMatchObject({ status: 403 });
  await makeOperator(app.ctx, olga);
  expect((await ask(alice.workspaceId, 'indeed')).entities).toMatchObject([{ name: 'Common Indeed' }]);
  expect((await ask(null, 'indeed')).entities).toEqual([]);
  await expect(ask(999_999_999)).rejects.toMatchObject({ status: 400, body: { fieldsWithError: ['workspaceId'] } });
});

/** An entry each of people of these names in the log of Alice's workspace, in this order. */
async function act(...names: string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const name of names) {
    const { rows } = await sql<{ actor_id: number }>`
      with person as (insert into app_user (email, name)
        values (gen_random_uuid() || '@example.com', ${name}) returning id)
      insert into audit (workspace_id, actor_id, credential, action, outcome)
      select ${alice.workspaceId}, id, 'session', 'client/edit', 'done' from person returning actor_id`.execute(
      app.ctx.db,
    );
    ids.push(rows[0]!.actor_id);
  }
  return ids;
}
