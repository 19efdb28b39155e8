import { api } from '@stagi/contract/api.ts';
import type { Feedback } from '@stagi/contract/feedback.ts';
import { FEEDBACK_TOPICS } from '@stagi/contract/feedbackTopics.ts';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let ada: Person;
let operator: Person;
beforeAll(async () => {
  app = await startTestApp();
  ada = await app.signUp('Ada');
  operator = await app.signUp('Olga');
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
});
afterAll(() => app?.close());

type Asked = { queryString?: string; page?: number; limit?: number; topics?: Feedback['topic'][] };
const listed = async ({ topics, ...entityFilterRequest }: Asked = {}) =>
  operator.client(api.feedback.list, { topics, entityFilterRequest });

it('shows operators the feedback by topic, text and page, with the re-encoded images', async () => {
  const content = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#c04' } })
    .png()
    .toBuffer();
  for (const [index, topic] of FEEDBACK_TOPICS.entries()) {
    await ada.client(api.feedback.send, {
      topic,
      subject: `Subject ${index}`,
      description: index === 0 ? '<img src=x onerror=alert(1)> 100 %' : 'words',
      contactEmail: index === 0 ? 'else@example.com' : '',
      imageUploads:
        index === 0 ? [{ fileName: 'shot.png', mimeType: 'image/png', contentBase64: content.toString('base64') }] : [],
    });
  }
  const all = await listed();
  expect(all.entities.map(({ topic }) => topic)).toEqual([...FEEDBACK_TOPICS].reverse());
  const [issue] = (await listed({ topics: ['Report an issue'] })).entities;
  expect(issue).toMatchObject({
    subject: 'Subject 0',
    description: '<img src=x onerror=alert(1)> 100 %',
    contactEmail: 'else@example.com',
    from: { userId: ada.userId, name: 'Ada', email: ada.email },
    images: [{ position: 0, fileName: 'shot.png', mimeType: 'image/png', width: 40, height: 20 }],
  });
  expect((await listed({ queryString: '100 %' })).entities.map(({ id }) => id)).toEqual([issue?.id]);
  expect((await listed({ queryString: ada.email })).totalCount).toBe(FEEDBACK_TOPICS.length);
  expect((await listed({ queryString: 'nothing like it' })).totalCount).toBe(0);

  expect((await operator.client(api.feedback.view, { id: issue?.id ?? 0 })).entity).toEqual(issue);

  const pages = [await listed({ page: 1, limit: 3 }), await listed({ page: 2, limit: 3 })];
  expect(pages.map(({ totalPages }) => totalPages)).toEqual([2, 2]);
  expect(pages.flatMap(({ entities }) => entities.map(({ id }) => id))).toEqual(all.entities.map(({ id }) => id));

  const image = await operator.client(api.feedback.image, { id: issue?.id ?? 0, position: 0 });
  expect(image.mimeType).toBe('image/png');
  const { width, height } = await sharp(Buffer.from(image.contentBase64, 'base64')).metadata();
  expect([width, height]).toEqual([40, 20]);
  expect(issue?.images[0]?.bytes).toBe(Buffer.from(image.contentBase64, 'base64').length);
});

it('shows an image to operators only, and at no address that could be passed on', async () => {
  const [issue] = (await listed({ topics: ['Report an issue'] })).entities;
  const input = { id: issue?.id ?? 0, position: 0 };
  const as = (person: Person) => ({
    authorization: `Bearer ${person.tokens().accessToken}`,
    'x-client-id': String(person.workspaceId),
  });
  const { path } = api.feedback.image;
  expect((await app.post(path, input, as(operator))).status).toBe(200);
  // The sender is no operator.
  expect((await app.post(path, input, as(ada))).status).toBe(403);
  expect((await app.post(path, input)).status).toBe(401);
  expect((await app.post(path, { ...input, position: 1 }, as(operator))).status).toBe(404);
  expect((await fetch(`${app.url}/frontend-api/${path}`, { headers: as(operator) })).status).toBe(404);
  await app.ctx.db.updateTable('app_user').set({ is_employee: false }).where('id', '=', operator.userId).execute();
  expect((await app.post(path, input, as(operator))).status).toBe(403);
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
});
