import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { storedMails } from '../testing/storedMails.ts';
import { HONEST, SPAM } from './testing/messages.ts';

const OPERATORS = 'help@example.com';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SUPPORT_EMAIL: OPERATORS, TRUST_PROXY: '127.0.0.1' });
});
afterAll(() => app?.close());

let addresses = 0;
async function send(input: Partial<InputOf<typeof api.contact.send>>) {
  addresses += 1;
  const request = { topic: 'Something else', name: 'Sam Smith', email: `sender${addresses}@example.org`, ...input };
  const reply = await app.post(api.contact.send.path, request, { 'x-forwarded-for': `198.51.100.${addresses}` });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return app.ctx.db
    .selectFrom('contact_request')
    .select(['looks_automated', 'mailed'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
}

it('mails no advertising and no injected headers: they are stored and marked', async () => {
  const cases = Object.entries(SPAM);
  expect(cases.length).toBeGreaterThanOrEqual(30);
  for (const [what, input] of cases)
    expect.soft(await send(input), what).toEqual({ looks_automated: true, mailed: false });
  const mails = await storedMails(app.ctx, OPERATORS);
  expect(mails).toEqual([]);
  console.log(`spam and injected headers: n = ${cases.length}, mailed ${mails.length}`);
});

it('mails what people ask, in their language, with their code and their links', async () => {
  const before = (await storedMails(app.ctx, OPERATORS)).length;
  const cases = Object.entries(HONEST);
  for (const [what, input] of cases)
    expect.soft(await send(input), what).toEqual({ looks_automated: false, mailed: true });
  expect((await storedMails(app.ctx, OPERATORS)).length - before).toBe(cases.length);
  console.log(`messages of people: n = ${cases.length}, all mailed`);
});

it('marks the same words from a second address', async () => {
  const message = 'Hello, we would like to talk with you about our new product for your company.';
  expect(await send({ message })).toEqual({ looks_automated: false, mailed: true });
  expect(await send({ message, name: 'Jo Jones' })).toEqual({ looks_automated: true, mailed: false });
  // Two people may well write the same few words.
  for (const name of ['Ann', 'Bob'])
    expect(await send({ name, message: 'How much is an H100?' })).toEqual({ looks_automated: false, mailed: true });
});
