import { afterAll, beforeAll, expect, it } from 'vitest';
import { aBucket, aKey } from './testing/bucket.ts';
import { aTarget, md5, type Target } from './testing/refusals.ts';
import { ask, type RawAnswer, send } from './testing/signedRequest.ts';

let target: Target;
beforeAll(async () => {
  target = await aTarget();
});
afterAll(() => target?.app.close());

const post = (xml: string): Promise<RawAnswer> =>
  ask(target.url, target.whole, {
    method: 'POST',
    path: `/${target.own.name}`,
    query: [['delete', '']],
    headers: [['content-md5', md5(xml)]],
    body: xml,
  });
const absent = (more = '', key = 'absent'): string => `<Delete><Object><Key>${key}</Key></Object>${more}</Delete>`;

it('reads documents of 20 levels and no deeper', async () => {
  const deep = (levels: number): string => absent('<x>'.repeat(levels - 1) + '</x>'.repeat(levels - 1));
  expect(await post(deep(20))).toMatchObject({ status: 200 });
  for (const levels of [21, 22, 1_000, 100_000])
    expect(await post(deep(levels)), `${levels} levels`).toMatchObject({ status: 400, code: 'MalformedXML' });
});

it('reads documents of so many elements and no more', async () => {
  expect(await post(absent('<a/>'.repeat(199_000)))).toMatchObject({ status: 200 });
  expect(await post(absent('<a/>'.repeat(200_000)))).toMatchObject({ status: 400, code: 'MalformedXML' });
});

it('reads text as it is meant, wherever it is cut into slices', async () => {
  for (const length of [16_300, 16_360, 16_375, 16_384, 16_390])
    for (const [written, meant] of [
      ['&amp;&#38;&#x26;', '&amp;&amp;&amp;'],
      ['<![CDATA[&]]]]><![CDATA[>]]>', '&amp;]]&gt;'],
      ['😀é\u{10ffff}', '😀é\u{10ffff}'],
      ['<!-- --><?a?>x', 'x'],
      ['&#9;&#10;&#13;', '&#x9;&#xa;&#xd;'],
      ['\u0001', '&#x1;'],
    ]) {
      const answer = await post(absent('', written).replace('<Delete>', `<Delete>${' '.repeat(length)}`));
      expect(answer.body, `${length} before ${written}`).toContain(`<Deleted><Key>${meant}</Key></Deleted>`);
    }
});

it('reads the references to control characters that S3 writes itself', async () => {
  for (const reference of ['&#x1;', '&#1;', '&#x1f;', '&#xffff;'])
    expect((await post(absent('', reference))).body, reference).toContain('<Deleted>');
});

it('refuses documents that are none', async () => {
  const documents: Record<string, string> = {
    'a document type': `<!DOCTYPE Delete>${absent()}`,
    'a document type with entities': `<!DOCTYPE d [<!ENTITY e "a/1">]>${absent('', '&e;')}`,
    'a document type without an end': `<!DOCTYPE d [${absent()}`,
    'a document type in lower case': `<!doctype d>${absent()}`,
    'an entity of its own': absent('', '&e;'),
    'an entity of HTML': absent('', '&nbsp;'),
    'the name of a function': absent('', '&constructor;'),
    'the name of another function': absent('', '&toString;'),
    'the name of an object': absent('', '&__proto__;'),
    'an entity in an attribute': '<Delete a="&valueOf;"><Object><Key>absent</Key></Object></Delete>',
    'half an entity': absent('', '&amp'),
    '& alone': absent('', 'a & b'),
    'a number that is no character': absent('', '&#x110000;'),
    'half a surrogate pair as a number': absent('', '&#xd800;'),
    'NUL as a number': absent('', '&#0;'),
    'a number of nothing': absent('', '&#;'),
    'a negative number': absent('', '&#-1;'),
    '< in a text': absent('', 'a < b'),
    'two roots': absent() + absent(),
    'text behind the root': `${absent()}x`,
    'no end': absent().slice(0, -1),
    'another end': '<Delete><Object><Key>absent</Object></Key></Delete>',
    'an attribute without a value': '<Delete a><Object><Key>absent</Key></Object></Delete>',
    'another root': absent().replaceAll('Delete', 'Remove'),
    'the prototype as a root': '<__proto__/>',
    nothing: '',
  };
  const accepted: string[] = [];
  for (const [what, xml] of Object.entries(documents)) {
    const { status, code, body } = await post(xml);
    if (status !== 400 || code !== 'MalformedXML') accepted.push(`${what}: ${status} ${code} ${body.slice(-120)}`);
  }
  console.log(`documents that are none: n = ${Object.keys(documents).length}, ${accepted.length} accepted`);
  expect(accepted).toEqual([]);
});

it('answers a preflight for up to 100 headers', async () => {
  const { app, url } = target;
  const alice = await app.signUp();
  const bucket = await aBucket(app, alice);
  const body =
    '<CORSConfiguration><CORSRule><AllowedMethod>PUT</AllowedMethod><AllowedOrigin>*</AllowedOrigin><AllowedHeader>X-*</AllowedHeader><AllowedHeader>Content-Type</AllowedHeader></CORSRule></CORSConfiguration>';
  const query: [string, string][] = [['cors', '']];
  expect(
    await ask(url, await aKey(app, alice, bucket), { method: 'PUT', path: `/${bucket.name}`, query, body }),
  ).toMatchObject({ status: 200 });
  const preflight = (headers: readonly string[]): Promise<RawAnswer> =>
    send(url, {
      method: 'OPTIONS',
      target: `/${bucket.name}/a`,
      headers: [
        ['host', new URL(url).host],
        ['origin', 'https://elsewhere.example'],
        ['access-control-request-method', 'PUT'],
        ['access-control-request-headers', headers.join(',')],
      ],
      body: Buffer.alloc(0),
    });
  const named = (count: number): string[] => Array.from({ length: count }, (_, n) => `X-h${n}`);
  expect((await preflight(['content-type', ...named(99)])).status).toBe(200);
  for (const headers of [named(101), named(1_000), [...named(99), 'other']])
    expect(await preflight(headers)).toMatchObject({ status: 403, code: 'CORSForbidden' });
});
