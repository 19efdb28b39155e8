import { api } from '@stagi/contract/api.ts';
import type { ContactRequest } from '@stagi/contract/contact.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { type Smtp, startSmtp } from '../testing/smtp.ts';

const OPERATORS = 'help@example.com';
const REQUEST = { topic: 'Help', name: 'Ada', email: 'ada@example.org', message: 'Hello' };
const EVIL = 'evil@attacker.example';

let app: TestApp;
let smtp: Smtp;
let olga: Person;
beforeAll(async () => {
  smtp = await startSmtp('mailer', 'secret');
  app = await startTestApp({ SUPPORT_EMAIL: OPERATORS, SMTP_URL: smtp.url, TRUST_PROXY: '127.0.0.1' });
  olga = await app.signUp('Olga');
  await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', olga.userId).execute();
});
afterAll(async () => {
  await app?.close();
  await smtp?.close();
});

/** The field that refuses it, or what is stored of it. */
type Outcome = { refusedAt: string } | { stored: Partial<ContactRequest> };
const at = (refusedAt: string): Outcome => ({ refusedAt });
const stored = (what: Partial<ContactRequest>): Outcome => ({ stored: what });
/** Kept for the operators and marked, not mailed. */
const marked = (what: Partial<ContactRequest>): Outcome => stored({ ...what, looksAutomated: true, mailed: false });
const named = (name: string, outcome?: Outcome): [object, Outcome] => [{ name }, outcome ?? at('name')];
const from = (email: string, outcome?: Outcome): [object, Outcome] => [{ email }, outcome ?? at('email')];
const says = (message: string, kept = message): [object, Outcome] => [{ message }, stored({ message: kept })];
const injects = (message: string): [object, Outcome] => [{ message }, marked({ message })];
const about = (model: object, outcome: Outcome): [object, Outcome] => [{ about: { model } }, outcome];

const CORPUS: Record<string, [object, Outcome]> = {
  'CR LF and a header in the name': named(`Ada\r\nBcc: ${EVIL}`),
  'LF and a header in the name': named(`Ada\nBcc: ${EVIL}`),
  'CR alone in the name': named(`Ada\rBcc: ${EVIL}`),
  'a folded header in the name': named(`Ada\r\n\tBcc: ${EVIL}`),
  'an empty line and a body in the name': named(`Ada\r\n\r\n<h1>${EVIL}</h1>`),
  'NUL in the name': named('Ada\0Bcc'),
  'other controls in the name': named('Ada\u001b[31m\u0008\u007f'),
  'NEL in the name': named(`Ada\u0085Bcc: ${EVIL}`),
  'a line separator in the name': named(`Ada\u2028Bcc: ${EVIL}`),
  'a paragraph separator in the name': named(`Ada\u2029Bcc: ${EVIL}`),
  'a right-to-left override in the name': named('Ada \u202egpj.exe'),
  'an isolate in the name': named('Ada \u2067x\u2069'),
  'half a surrogate pair in the name': named('Ada \ud800'),
  'a percent-encoded header in the name': named(`Ada%0d%0aBcc: ${EVIL}`, marked({ name: `Ada%0d%0aBcc: ${EVIL}` })),
  'an escaped header in the name': named(`Ada\\r\\nBcc: ${EVIL}`, marked({ name: `Ada\\r\\nBcc: ${EVIL}` })),
  'an encoded word with a header in the name': named(
    '=?utf-8?q?Ada=0d=0aBcc=3a_x?=',
    marked({ name: '=?utf-8?q?Ada=0d=0aBcc=3a_x?=' }),
  ),
  'an address as the name': named(`"Boss" <${EVIL}>`, marked({ name: `"Boss" <${EVIL}>` })),
  'a template as the name': named('{{brand}} {{id}}', stored({ name: '{{brand}} {{id}}' })),
  'SQL as the name': named("'); drop table mail; --", stored({ name: "'); drop table mail; --" })),
  'a name of 60,000 characters': named('x'.repeat(60_000)),
  'CR LF and a header in the address': from(`ada@example.org\r\nBcc: ${EVIL}`),
  'LF and a recipient in the address': from(`ada@example.org\n${EVIL}`),
  'two addresses, with a comma': from(`ada@example.org,${EVIL}`),
  'two addresses, with a semicolon': from(`ada@example.org;${EVIL}`),
  'two addresses, with a space': from(`ada@example.org ${EVIL}`),
  'a display name in the address': from(`Ada <${EVIL}>`),
  'a quoted local part': from('"ada\r\n"@example.org'),
  'a comment in the address': from('ada(x)@example.org'),
  'a group as the address': from(`friends:${EVIL};`),
  'two @': from('ada@example.org@attacker.example'),
  'NUL in the address': from('ada\0@example.org'),
  'an override in the address': from('ada\u202e@example.org'),
  'a route in the address': from('@attacker.example:ada@example.org'),
  'the address of a literal host': from('ada@[127.0.0.1]'),
  'an encoded word as the address': from(
    '=?utf-8?q?a=0d=0abcc?=@example.org',
    marked({ email: '=?utf-8?q?a=0d=0abcc?=@example.org' }),
  ),
  'letters of other scripts in the address': from('аdа@example.org', stored({ email: 'аdа@example.org' })),
  'an address of 300 characters': from(`${'x'.repeat(290)}@example.org`),
  'the operators’ own address': from(OPERATORS, stored({ email: OPERATORS })),
  'CR LF and a header in the company': [{ company: `X\r\nBcc: ${EVIL}` }, at('company')],
  'CR LF and a header in the topic': [{ topic: `Help\r\nBcc: ${EVIL}` }, at('topic')],
  'CR LF and a header in the model': about({ id: 'x', name: `X\r\nBcc: ${EVIL}` }, at('about.model.name')),
  'an object as the name': [{ name: { toString: 'x' } }, at('name')],
  'a list as the address': [{ email: ['ada@example.org', EVIL] }, at('email')],
  'fields that the form does not have': [
    {
      to: EVIL,
      bcc: EVIL,
      cc: EVIL,
      subject: EVIL,
      replyTo: EVIL,
      recipient: EVIL,
      headers: { bcc: EVIL },
      mailed: false,
    },
    stored({ mailed: true }),
  ],
  'headers in the message': injects(`Bcc: ${EVIL}\nTo: ${EVIL}\nSubject: x`),
  'a second mail in the message': injects(`.\nMAIL FROM:<${EVIL}>\nRCPT TO:<${EVIL}>\nDATA\nx\n.`),
  'dots that end a mail': says('Hello\n.\n.\n..\nthere'),
  'a MIME boundary in the message': injects(`--boundary\nContent-Type: text/html\n\n<h1>${EVIL}</h1>\n--boundary--`),
  'CR LF and CR in the message': says('one\r\ntwo\rthree', 'one\ntwo\nthree'),
  'controls in the message': says('a\0b\u0007c\u001b[31md\te', 'abc[31md\te'),
  'overrides in the message': says('safe \u202egpj.exe\u202c \u2066x\u2069', 'safe gpj.exe x'),
  'half a surrogate pair in the message': says('Hello\ud83d there', 'Hello there'),
  'markup in the message': injects('<script>alert(1)</script><img src=x onerror=alert(1)>'),
  'a signature separator in the message': says('-- \nnot ours'),
  'a template in the message': says('{{brand}} {{id}}'),
  'the facts of another person in the message': says('Name: Boss\nEmail: boss@example.org'),
  'a thousand links': [
    { message: 'http://a.example '.repeat(290) },
    marked({ message: 'http://a.example '.repeat(290).trim() }),
  ],
  'a filled trap': [{ website: 'x' }, marked({})],
  'a message of 60,000 characters': [{ message: 'x'.repeat(60_000) }, at('message')],
  'a message of combining marks': injects(`a${'\u0301'.repeat(3_000)}`),
};

it('nothing hostile is mailed as a header or to another recipient: it is refused at its field or plain text', async () => {
  const cases = Object.entries(CORPUS);
  expect(cases.length).toBeGreaterThan(30);
  let mailed = 0;
  let refused = 0;
  for (const [index, [what, [input, outcome]]] of cases.entries()) {
    const answer = await app.post(
      api.contact.send.path,
      { ...REQUEST, ...input },
      { 'x-forwarded-for': `198.51.100.${index + 1}` },
    );
    if ('refusedAt' in outcome) {
      refused += 1;
      expect.soft(answer, what).toMatchObject({ status: 400, body: { fieldsWithError: [outcome.refusedAt] } });
      continue;
    }
    expect.soft(answer.status, `${what}: ${JSON.stringify(answer.body)}`).toBe(200);
    const [request] = (await olga.client(api.contact.list, {})).entities;
    expect.soft(request, what).toMatchObject({ ...REQUEST, mailed: true, ...outcome.stored });
    if (request?.mailed) mailed += 1;
  }
  expect((await olga.client(api.contact.list, {})).totalCount).toBe(cases.length - refused);

  await expect.poll(() => smtp.mails.length, { timeout: 60_000, interval: 200 }).toBe(mailed);
  for (const { recipients, raw } of smtp.mails) {
    expect.soft(recipients).toEqual([OPERATORS]);
    const headers = headersOf(raw);
    expect.soft([...headers.keys()].filter((name) => name !== 'reply-to').toSorted(), raw).toEqual(HEADERS);
    expect.soft(headers.get('to')).toBe(OPERATORS);
    expect.soft(headers.get('subject')).toMatch(/^Contact request \d+: Help$/);
    expect.soft([undefined, REQUEST.email, OPERATORS]).toContain(headers.get('reply-to'));
    // A boundary is drawn at random, and may contain any word of three letters.
    expect.soft(headers.get('content-type')).toMatch(BODY_TYPE);
    const values = [...headers].filter(([name]) => name !== 'content-type').map(([, value]) => value);
    expect.soft(values.join('\n')).not.toMatch(/attacker|bcc|utf-8\?q/i);
  }
  const others = await app.ctx.db.selectFrom('mail').select('id').where('recipient', '<>', OPERATORS).execute();
  expect(others).toEqual([]);
  console.log(
    `hostile contact requests: n = ${cases.length}, refused ${refused}, marked ${cases.length - refused - mailed}, mailed as plain text ${mailed}, 0 as a header`,
  );
});

it('a body that is too large is not read', async () => {
  const answer = await app.post(api.contact.send.path, { ...REQUEST, message: 'x'.repeat(70_000) });
  expect(answer).toMatchObject({ status: 400, body: { message: 'The request is too large' } });
});

/** As the mailer makes it for every mail. */
const BODY_TYPE = /^multipart\/alternative; boundary="--_NmP-[0-9a-f]+-Part_1"$/;
const HEADERS = ['content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];

/** By their names; one that comes twice, or a line that is none, fails. */
function headersOf(raw: string): Map<string, string> {
  const headers = new Map<string, string>();
  const lines = raw
    .slice(0, raw.indexOf('\n\n'))
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
  for (const line of lines) {
    const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? [];
    if (!name || headers.has(name.toLowerCase())) throw new Error(`not a header, or twice: ${line}`);
    headers.set(name.toLowerCase(), value ?? '');
  }
  return headers;
}
