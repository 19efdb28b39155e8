import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
let id: number;
beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp();
  id = await aSelfHostedServer(app.ctx, alice);
  await app.ctx.db.deleteFrom('instance_activity').where('instance_id', '=', id).execute();
  const happened = (day: number, kind: string, to: string | null = null) => ({
    instance_id: id,
    at: new Date(Date.UTC(2026, 2, day, 12)),
    kind,
    to_status: to,
  });
  await app.ctx.db
    .insertInto('instance_activity')
    .values([happened(1, 'created'), happened(2, 'status', 'online'), happened(3, 'status', 'offline')])
    .execute();
});
afterAll(() => app?.close());

const list = (input: object) => alice.client(api.selfHosted.activities, { id, ...input });
const kinds = async (input: object) => (await list(input)).entities.map(({ kind, to }) => to ?? kind);

it('lists what happened between two moments, both included', async () => {
  expect(await kinds({})).toEqual(['offline', 'online', 'created']);
  expect(await kinds({ from: '2026-03-02T12:00:00.000Z' })).toEqual(['offline', 'online']);
  expect(await kinds({ to: '2026-03-02T12:00:00.000Z' })).toEqual(['online', 'created']);
  const second = { from: '2026-03-02T00:00:00Z', to: '2026-03-02T23:59:59.999Z' };
  expect(await list(second)).toMatchObject({ totalCount: 1, totalPages: 1 });
  expect(await kinds(second)).toEqual(['online']);
});

it('refuses moments that are none', async () => {
  await expect(list({ from: '02/03/2026' })).rejects.toMatchObject({ status: 400 });
});

it('searches what is shown of an activity, and takes the order', async () => {
  expect(await kinds({ entityFilterRequest: { queryString: 'OFF' } })).toEqual(['offline']);
  expect(await kinds({ entityFilterRequest: { statuses: ['online'] } })).toEqual(['online']);
  expect(await kinds({ entityFilterRequest: { orderByField: 'at', orderByDirection: 'asc' } })).toEqual([
    'created',
    'online',
    'offline',
  ]);
});
