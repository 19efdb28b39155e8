import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { CONTACT_TOPICS } from '@stagi/contract/contactTopics.ts';
import type { CallError } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from '../cleanUp.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { storedMails } from '../testing/storedMails.ts';
import { REQUESTS_PER_HOUR } from './send.ts';

const OPERATORS = 'help@example.com';
const ABOUT = { model: { id: 'qwen/qwen3-8b', name: 'Qwen3 8B' }, gpu: 'H100 80GB', quality: 'FP8' };
type Input = InputOf<typeof api.contact.send>;
const REQUEST: Input = { topic: 'A model', name: 'Ada', email: 'ada@example.org', message: 'Which server?\nThanks' };

let app: TestApp;
let ada: Person;
let olga: Person;
beforeAll(async () => {
  app = await startTestApp({ SUPPORT_EMAIL: OPERATORS, TRUST_PROXY: '127.0.0.1' });
  ada = await app.signUp('Ada');
  olga = await app.signUp('Olga');
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', olga.userId).execute();
});
afterAll(() => app?.close());

let addresses = 0;
/** Each from another address, as one may send only a few. */
function send(input: object, headers: Record<string, string> = {}) {
  addresses += 1;
  const ip = `198.51.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`;
  return app.post(api.contact.send.path, { ...REQUEST, ...input }, { 'x-forwarded-for': ip, ...headers });
}
type Asked = { queryString?: string; orderByField?: string; handled?: boolean; topics?: Input['topic'][] };
const listed = ({ handled, topics, ...entityFilterRequest }: Asked = {}) =>
  olga.client(api.contact.list, { handled, topics, entityFilterRequest });
const newest = async () => (await listed()).entities[0]!;
const forget = () => app.ctx.db.deleteFrom('contact_request').execute();
const mails = () => storedMails(app.ctx, OPERATORS);

describe('a contact request', () => {
  it('is stored, mailed to the operators and to nobody else', async () => {
    expect(await send({ company: 'Example', about: ABOUT })).toMatchObject({ status: 200, body: { isSuccess: true } });
    const request = await newest();
    expect(request).toMatchObject({
      ...REQUEST,
      company: 'Example',
      about: ABOUT,
      from: null,
      looksAutomated: false,
      mailed: true,
      handled: null,
      note: '',
    });
    expect((await olga.client(api.contact.view, { id: request.id })).entity).toEqual(request);
    const [mail] = await mails();
    expect(mail).toMatchObject({ subject: `Contact request ${request.id}: A model`, replyTo: 'ada@example.org' });
    for (const words of [
      'Ada',
      'ada@example.org',
      'Example',
      'Qwen3 8B',
      'H100 80GB',
      'FP8',
      '> Which server?\n> Thanks',
    ])
      expect(mail?.text).toContain(words);
    expect(mail?.text).toContain(`/admin/contact?contact=${request.id}`);
    const { rows } = await sql`select 1 from mail where recipient <> ${OPERATORS}`.execute(app.ctx.db);
    expect(rows).toEqual([]);
  });

  it('notes who was signed in with a session of their own, and needs none', async () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    await send({}, bearer(ada.tokens().accessToken));
    expect((await newest()).from).toEqual({ userId: ada.userId, name: 'Ada', email: ada.email });
    const { token } = await anApiToken(app.ctx, ada);
    for (const other of ['nonsense', token]) {
      expect((await send({}, bearer(other))).status).toBe(200);
      expect((await newest()).from).toBeNull();
    }
  });

  it('is refused at its fields', async () => {
    const refusals: [object, Record<string, string>][] = [
      [{ name: '  ' }, { name: 'Name is required' }],
      [{ name: 'x'.repeat(101) }, { name: 'Name is too long: at most 100 characters' }],
      [{ email: '' }, { email: 'Email is required' }],
      [{ email: 'ada' }, { email: 'Enter a valid email' }],
      [{ email: `${'x'.repeat(250)}@example.org` }, { email: 'Enter a valid email' }],
      [{ company: 'x'.repeat(201) }, { company: 'Company is too long: at most 200 characters' }],
      [{ message: ' \n ' }, { message: 'Message is required' }],
      [{ message: 'x'.repeat(5_001) }, { message: 'Message is too long: at most 5,000 characters' }],
      [{ topic: 'Spam' }, { topic: 'Please choose an option' }],
      [
        { name: undefined, email: undefined, message: undefined },
        { name: 'Name is required', email: 'Email is required', message: 'Message is required' },
      ],
    ];
    const before = (await listed()).totalCount;
    for (const [input, fieldMessages] of refusals)
      expect.soft(await send(input)).toMatchObject({ status: 400, body: { fieldMessages } });
    expect((await listed()).totalCount).toBe(before);
  });

  it('that is sent again, as its answer was lost, is stored and mailed once', async () => {
    const key = '0b6ef8ae-7b0b-4a1c-8a51-0b9d9b1b6f3e';
    const before = [(await listed()).totalCount, (await mails()).length];
    await Promise.all([1, 2, 3].map(() => send({ key })));
    expect([(await listed()).totalCount, (await mails()).length]).toEqual(before.map((count) => count + 1));
  });

  it('that looks automated is stored and not mailed', async () => {
    const before = (await mails()).length;
    const links = Array.from({ length: 11 }, (_, index) => `https://example.com/${index}`).join(' ');
    for (const input of [
      { website: 'https://example.com' },
      { message: links },
      { message: 'www.x.example '.repeat(300) },
    ]) {
      expect((await send(input)).status).toBe(200);
      expect(await newest()).toMatchObject({ looksAutomated: true, mailed: false });
    }
    expect((await mails()).length).toBe(before);
  });

  it('is found, filtered and sorted by operators', async () => {
    await forget();
    for (const [index, topic] of CONTACT_TOPICS.entries())
      await send({ topic, name: `Person ${index}`, message: index === 0 ? '<b>100 %</b>' : 'words' });
    const all = await listed();
    expect(all.entities.map(({ topic }) => topic)).toEqual([...CONTACT_TOPICS].reverse());
    expect((await listed({ queryString: '100 %' })).entities.map(({ message }) => message)).toEqual(['<b>100 %</b>']);
    expect((await listed({ queryString: 'nothing like it' })).totalCount).toBe(0);
    expect((await listed({ topics: ['A demo', 'Help'] })).totalCount).toBe(2);
    for (const orderByField of ['name', 'topic', 'handled', 'at'])
      expect((await listed({ orderByField })).totalCount).toBe(CONTACT_TOPICS.length);
    const first = all.entities[0]!;
    const handled = (await olga.client(api.contact.handle, { id: first.id, handled: true, note: 'Called' })).entity;
    expect(handled).toMatchObject({ handled: { by: { userId: olga.userId, name: 'Olga' } }, note: 'Called' });
    expect((await listed({ handled: true })).entities).toEqual([handled]);
    expect((await listed({ handled: false })).totalCount).toBe(CONTACT_TOPICS.length - 1);
    const reopened = (await olga.client(api.contact.handle, { id: first.id, handled: false })).entity;
    expect(reopened).toMatchObject({ handled: null, note: 'Called' });
    const [acted] = (await olga.client(api.audit.listForOperators, {})).entities;
    expect(acted).toMatchObject({
      action: 'admin/contact/handle',
      object: { type: 'admin/contact', id: String(first.id), label: first.topic },
      detail: { handled: false },
    });
    const absent = await olga
      .client(api.contact.handle, { id: 999_999, handled: true })
      .catch((error: unknown) => error as CallError);
    expect(absent).toMatchObject({ status: 404 });
  });

  it('is shown to operators only', async () => {
    const { id } = await newest();
    for (const [call, input] of [
      [api.contact.list, {}],
      [api.contact.view, { id }],
      [api.contact.handle, { id, handled: true }],
    ] as const) {
      expect((await app.post(call.path, input)).status).toBe(401);
      const refused = await ada.client(call, input as never).catch((error: unknown) => error as CallError);
      expect(refused).toMatchObject({ status: 403 });
    }
    expect((await newest()).handled).toBeNull();
  });

  it('is limited by address, and over all addresses', async () => {
    await forget();
    const headers = { 'x-forwarded-for': '2001:db8:1:2::1' };
    const statuses: number[] = [];
    for (let sent = 0; sent < 11; sent += 1)
      // One subscriber has all of a /64.
      statuses.push((await send({}, { 'x-forwarded-for': `2001:db8:1:2::${sent + 1}` })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect((await send({}, headers)).retryAfter).toBeGreaterThan(0);

    await sql`insert into contact_request (topic, name, email, message, looks_automated, mailed)
      select 'Help', 'x', 'x@example.com', 'x', false, false from generate_series(1, ${REQUESTS_PER_HOUR - 10 - 2})`.execute(
      app.ctx.db,
    );
    const together = await Promise.all(Array.from({ length: 6 }, () => send({})));
    expect(together.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = together.find(({ status }) => status === 429);
    expect(refused?.retryAfter).toBeGreaterThan(3_500);
    expect(refused?.retryAfter).toBeLessThanOrEqual(3_600);
    await sql`update contact_request set created_at = now() - interval '61 minutes'`.execute(app.ctx.db);
    expect((await send({})).status).toBe(200);
  });

  it('is deleted after 180 days', async () => {
    await forget();
    await send({ name: 'Old' });
    await send({ name: 'Young' });
    await sql`update contact_request set created_at = now() - (case name when 'Old' then 181 else 179 end) * interval '1 day'`.execute(
      app.ctx.db,
    );
    await cleanUp(app.ctx);
    expect((await listed()).entities.map(({ name }) => name)).toEqual(['Young']);
  });
});

describe('without an operators’ address', () => {
  let quiet: TestApp;
  beforeAll(async () => {
    quiet = await startTestApp();
  });
  afterAll(() => quiet?.close());

  it('a request is stored only', async () => {
    await quiet.anonymous(api.contact.send, REQUEST);
    const rows = await quiet.ctx.db.selectFrom('contact_request').select(['name', 'mailed']).execute();
    expect(rows).toEqual([{ name: 'Ada', mailed: false }]);
    expect(await quiet.ctx.db.selectFrom('mail').select('id').execute()).toEqual([]);
  });
});
