import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';

const FAST = { interval: 25, timeout: 60_000 };

let app: TestApp;
let alice: Person;
beforeAll(async () => {
  // Nobody can make a folder there.
  app = await startTestApp({ REPOSITORIES_DIR: '/sys/repositories' });
  alice = await app.signUp();
});
afterAll(() => app?.close());

it('a project whose repository cannot be made says so, fails at its deadline, and can be deleted', async () => {
  const { id, slug } = (await alice.client(api.projects.create, { title: 'Vision', slug: 'vision' })).entity;
  const view = async () => (await alice.client(api.projects.view, { id })).entity;
  await sql`update project set attempts = 2, next_at = now() where id = ${id}`.execute(app.ctx.db);
  await expect
    .poll(view, FAST)
    .toMatchObject({ status: 'creating', statusReason: 'The repository could not be made; trying again' });
  await sql`update project set status_deadline = now(), next_at = now() where id = ${id}`.execute(app.ctx.db);
  await expect.poll(view, FAST).toMatchObject({
    status: 'creation failed',
    statusReason: 'The repository could not be made; trying again',
    canPush: false,
  });
  await expect(alice.client(api.projects.edit, { id, title: 'x' })).rejects.toMatchObject({
    body: { isSuccess: false, message: 'This project could not be created' },
  });
  await alice.client(api.projects.delete, { id, slugTyped: slug });
  await expect.poll(async () => (await view()).status, FAST).toBe('deleted');
});
