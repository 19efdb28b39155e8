import { randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { readFile } from './keep.ts';
import { moveIn } from './moveIn.ts';
import { removeDoomed } from './worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

it('leaves a picture alone that is replaced while it is moved, and may run twice at once', async () => {
  const people = await Promise.all(Array.from({ length: 12 }, (_, n) => app.signUp(`P ${n}`)));
  const contents = new Map<number, Buffer>();
  for (const { userId } of people) {
    contents.set(userId, randomBytes(5_000));
    await app.ctx.db
      .insertInto('user_picture')
      .values({ user_id: userId, name: `old-${userId}`, mime_type: 'image/png', content: contents.get(userId)! })
      .execute();
  }
  const [ada] = people;
  const removed = ada!.client(api.user.edit, { image: null });
  const [one, two] = await Promise.all([moveIn(app.ctx), moveIn(app.ctx), removed]);
  expect(one + two).toBeGreaterThanOrEqual(people.length - 1);
  expect(one + two).toBeLessThanOrEqual(people.length);
  const rows = await app.ctx.db.selectFrom('user_picture').selectAll().execute();
  expect(rows.map(({ user_id }) => user_id)).not.toContain(ada!.userId);
  expect(rows).toHaveLength(people.length - 1);
  for (const { user_id, content, file_id } of rows) {
    expect(content).toBeNull();
    expect(await readFile(app.ctx, file_id!)).toEqual(contents.get(user_id));
  }
  await removeDoomed(app.ctx);
  const stored = await app.ctx.db.selectFrom('stored_file').select('state').execute();
  expect(stored.map(({ state }) => state)).toEqual(rows.map(() => 'stored'));
});

it('moves the screenshots of a feedback message', async () => {
  const { userId } = await app.signUp();
  const { id } = await app.ctx.db
    .insertInto('feedback')
    .columns(['user_id', 'topic', 'subject', 'description'])
    .expression(sql`select ${userId}::int, 'Report an issue', 's', 'd'`)
    .returning('id')
    .executeTakeFirstOrThrow();
  const contents = [0, 1, 2].map(() => randomBytes(5_000));
  for (const [position, content] of contents.entries())
    await app.ctx.db
      .insertInto('feedback_image')
      .values({ feedback_id: id, position, file_name: 'f', mime_type: 'image/png', width: 1, height: 1, content })
      .execute();
  expect(await moveIn(app.ctx)).toBe(contents.length);
  const images = await app.ctx.db.selectFrom('feedback_image').selectAll().orderBy('position').execute();
  for (const [index, { content, file_id }] of images.entries()) {
    expect(content).toBeNull();
    expect(await readFile(app.ctx, file_id!)).toEqual(contents[index]);
  }
});
