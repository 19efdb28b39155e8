import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { api, everyCall } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import type { ErrorBody } from '@stagi/contract/errors.ts';
import { SignJWT, UnsecuredJWT } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../passwords/hashing.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainer, anSshKey, aRentedInstance, aSelfHostedServer, makeOperator } from '../testing/factories.ts';
import { PASSWORD, type Person } from '../testing/person.ts';
import { sendBrokenBodies } from './testing/brokenBodies.ts';

/** Guards that every call and every answer has in common; docs/security/asvs.md says which requirement each one meets. */
let app: TestApp;
let alice: Person;
beforeAll(async () => {
  app = await startTestApp();
  alice = await app.signUp('Alice');
  const instance = await aRentedInstance(app.ctx, alice);
  await aContainer(app.ctx, alice, instance);
  await aSelfHostedServer(app.ctx, alice);
  await anSshKey(app.ctx, alice);
});
afterAll(() => app?.close());

const mine = (): Record<string, string> => ({
  authorization: `Bearer ${alice.tokens().accessToken}`,
  'x-client-id': String(alice.workspaceId),
});

const isOfPage = ({ path }: { path: PropertyKey[] }): boolean => path[0] === 'entityFilterRequest';

const raw = (path: string, init: RequestInit): Promise<Response> => fetch(app.url + path, init);

describe('an answer', () => {
  const PLACES = [
    { what: 'an answered call', path: `${API_PREFIX}user/profile`, method: 'POST' },
    { what: 'a refused call', path: `${API_PREFIX}user/profile`, method: 'POST', anonymous: true },
    { what: 'an unknown call', path: `${API_PREFIX}nothing`, method: 'POST' },
    { what: 'an address that is no page', path: '/assets/../../../etc/passwd', method: 'GET' },
    { what: 'a folder of source control', path: '/.git/config', method: 'GET' },
    { what: 'the API description', path: '/openapi.json', method: 'GET' },
    { what: 'the health check', path: '/healthz', method: 'GET' },
  ];

  it.each(PLACES)('of $what cannot be read as something else, framed, or read by another site', async (place) => {
    const headers = {
      origin: 'https://evil.example',
      'content-type': 'application/json',
      ...(place.anonymous ? {} : mine()),
    };
    const response = await raw(place.path, {
      method: place.method,
      headers,
      body: place.method === 'POST' ? '{}' : null,
    });
    const answered = Object.fromEntries(response.headers);
    expect(answered['x-content-type-options']).toBe('nosniff');
    expect(answered['content-security-policy']).toMatch(
      /default-src 'self'.*object-src 'none'.*frame-ancestors 'none'/,
    );
    const { s3Origin, contentOrigin, appOrigin } = app.ctx.config;
    const ofPage = appOrigin === app.url ? '' : ` ws://${new URL(app.url).host} wss://${new URL(app.url).host}`;
    expect(answered['cache-control']).toMatch(/^no-(store|cache)$/);
    expect(answered['content-security-policy']?.split('; ')).toEqual(
      expect.arrayContaining([
        `img-src 'self' data: blob: ${contentOrigin}`,
        `connect-src 'self' ${s3Origin} ws://${new URL(appOrigin).host}${ofPage}`,
        `frame-src ${contentOrigin}`,
      ]),
    );
    expect(answered['content-security-policy']).not.toMatch(/script-src[^;]*unsafe/);
    expect(answered['referrer-policy']).toBe('same-origin');
    expect(answered['cross-origin-resource-policy']).toBe('same-origin');
    expect(answered['content-type']).toMatch(/^(application\/json|text\/html|text\/plain); charset=utf-8$/);
    expect(Object.keys(answered).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    if (place.path.startsWith('/.') || place.path.includes('passwd'))
      expect(await response.text()).not.toMatch(/\[core\]|root:/);
    expect(answered['x-powered-by'] ?? answered.server).toBeUndefined();
  });

  it('lets a page open web sockets of its own host alone', async () => {
    const POLICIES = [
      ['stagi.example', 'wss://stagi.example'],
      ['127.0.0.1:4400', 'wss://stagi.example ws://127.0.0.1:4400 wss://127.0.0.1:4400'],
      ['[::1]:4400', 'wss://stagi.example ws://[::1]:4400 wss://[::1]:4400'],
      ['a; script-src *', 'wss://stagi.example'],
      ['*', 'wss://stagi.example'],
      ['a.example ws:', 'wss://stagi.example'],
      ['a.example,wss:', 'wss://stagi.example'],
    ] as const;
    const secured = await startTestApp({ APP_ORIGIN: 'https://stagi.example' });
    try {
      const { hostname, port } = new URL(secured.url);
      for (const [host, sockets] of POLICIES) {
        const [answer] = await once(get({ hostname, port, path: '/healthz', headers: { host } }), 'response');
        answer.resume();
        const policy = String(answer.headers['content-security-policy']);
        const allowed = policy.split('; ').find((rule) => rule.startsWith('connect-src '));
        expect.soft(allowed, host).toBe(`connect-src 'self' ${secured.ctx.config.s3Origin} ${sockets}`);
      }
    } finally {
      await secured.close();
    }
  });

  it('is kept by no cache, whatever call, error, redirect or address that is none', async () => {
    let n = 0;
    const look = async (path: string, init: RequestInit): Promise<void> => {
      const response = await raw(path, { redirect: 'manual', ...init });
      await response.body?.cancel();
      expect
        .soft(response.headers.get('cache-control'), `${init.method} ${path} ${response.status}`)
        .toMatch(/^(?:private, )?no-(?:store|cache)/);
      n += 1;
    };
    const json = { 'content-type': 'application/json' };
    for (const { path } of everyCall()) {
      await look(API_PREFIX + path, { method: 'POST', headers: json, body: '{}' });
      await look(API_PREFIX + path, { method: 'GET' });
      await look(API_PREFIX + path, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    }
    const profile = `${API_PREFIX}user/profile`;
    await look(profile, { method: 'POST', headers: { ...json, ...mine() }, body: '{}' });
    await look(profile, { method: 'POST', headers: { ...json, ...mine() }, body: '{' });
    await look(profile, { method: 'POST', headers: { ...json, ...mine() }, body: `"${'x'.repeat(2_000_000)}"` });
    await look(profile, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' });
    for (const path of [
      '/%zz',
      '/healthz',
      '/readyz',
      '/nothing',
      '/assets/nothing.js',
      '/robots.txt',
      '/sitemap.xml',
      '/openapi.json',
      '/configuration.json',
      '/oauth/token',
      '/git/none/none.git/info/refs?service=git-upload-pack',
      '/daemon-api/nothing',
      '/models/none',
      '/dev/mail',
    ])
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) await look(path, { method });
    console.log(`answers that no cache keeps: n = ${n}`);
    expect(n).toBeGreaterThan(700);
  });

  it('of a platform behind TLS keeps browsers on TLS, and its cookie there', async () => {
    const secured = await startTestApp({ APP_ORIGIN: 'https://stagi.example' });
    try {
      const email = 'secured@example.com';
      const password_hash = await hashSecret(PASSWORD);
      await secured.ctx.db.insertInto('app_user').values({ email, name: 'S', password_hash }).execute();
      const response = await fetch(`${secured.url}${API_PREFIX}auth/email/authentication`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: PASSWORD }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
      const ofGit = await fetch(`${secured.url}/git/1/none.git/info/refs?service=git-upload-pack`);
      expect(ofGit.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
      expect([ofGit.headers.get('x-content-type-options'), ofGit.headers.get('referrer-policy')]).toEqual([
        'nosniff',
        'no-referrer',
      ]);
      expect(response.headers.getSetCookie()).toHaveLength(1);
      expect(response.headers.getSetCookie()[0]).toMatch(
        /^__Host-stagi-device=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
      );
    } finally {
      await secured.close();
    }
  });
});

describe('a request', () => {
  it('is a POST with a JSON body: no other method, and nothing that a form of another site can send (CSRF)', async () => {
    let n = 0;
    for (const { path } of everyCall()) {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
        const { status } = await raw(API_PREFIX + path, { method, headers: mine() });
        expect.soft(status, `${method} ${path}`).toBe(404);
        n += 1;
      }
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const headers = { ...mine(), 'content-type': type };
      const response = await raw(`${API_PREFIX}user/edit`, { method: 'POST', headers, body: '{"name":"Forged"}' });
      expect.soft(response.status, type).toBe(415);
      n += 1;
    }
    expect((await alice.client(api.user.profile, {})).userProfile.name).toBe('Alice');
    console.log(`cross-site requests: n = ${n} refused`);
    expect(n).toBeGreaterThan(0);
  });

  it.each([
    ['arrays', '['.repeat(33) + ']'.repeat(33)],
    ['half a million arrays', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['arrays that do not end', '['.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['both', `{"publicKey":${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}}`],
    ['objects below a string with quotes', `{"title":"\\"[\\\\",${'"b":{'.repeat(40)}${'}'.repeat(40)}}`],
    ['prototypes', `${'{"__proto__":'.repeat(40)}1${'}'.repeat(40)}`],
  ])('that is nested too deeply is refused in one sentence, with a key and without: %s', async (_, body) => {
    const paths = [`${API_PREFIX}user/profile`, `${API_PREFIX}ssh-key/add`, `${API_PREFIX}auth/email/authentication`];
    for (const path of body.length < 60_000 ? paths : paths.slice(0, 2))
      for (const key of [null, 'deep']) {
        const headers = {
          ...mine(),
          ...(key !== null && { 'idempotency-key': key }),
          'content-type': 'application/json',
        };
        const response = await raw(path, { method: 'POST', headers, body });
        expect.soft(response.status, path).toBe(400);
        expect.soft(await response.json()).toMatchObject({
          message: 'The request is nested too deeply: at most 32 levels',
        });
      }
  });

  it.each([
    ['32 levels', `{"x":${'['.repeat(31)}${']'.repeat(31)}}`],
    ['a long list', `{"x":[${'[],'.repeat(100_000)}1]}`],
    ['brackets in a text', JSON.stringify({ x: '[{"'.repeat(50_000) })],
    ['a text that ends in a backslash', JSON.stringify({ x: '\\', y: ['\\"[', '[[[[[['] })],
    ['many fields', JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f${n}`, {}])))],
  ])('that is only large is read: %s', async (_, body) => {
    const headers = { ...mine(), 'content-type': 'application/json' };
    const response = await raw(`${API_PREFIX}user/profile`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
  });

  it('is not authenticated by a cookie or by its IP address', async () => {
    const { accessToken } = alice.tokens();
    for (const [where, headers] of [
      ['', { cookie: `accessToken=${accessToken}; stagi-device=${'x'.repeat(43)}` }],
      [`?access_token=${accessToken}&accessToken=${accessToken}&token=${accessToken}`, {}],
    ] as const) {
      const response = await raw(`${API_PREFIX}user/profile${where}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
      expect(response.status).toBe(401);
    }
  });

  it('of the wrong shape is refused or ignored, whatever the call, and breaks nothing', async () => {
    // The long tests send all of them.
    await sendBrokenBodies(app, alice, { oneIn: 10 });
  });

  it('cannot speak SQL where lists are searched and ordered', async () => {
    const lists = everyCall().filter(({ path, auth }) => path.endsWith('/list') && !auth.includes('EMPLOYEE'));
    const unsearched = ['client/audit/list', 'client/role/list'];
    let n = 0;
    for (const { path } of lists) {
      for (const text of ["' or '1'='1", "%'; drop table app_user; --", '%', '_', '\\', '\\%', '$1', '";--']) {
        const { status, body } = await app.post(path, { entityFilterRequest: { queryString: text } }, mine());
        if (status !== 200) expect.soft(status, path).toBe(400);
        else if (unsearched.includes(path)) continue;
        else if (!/^[\\%_$]/.test(text) || text === '%' || text === '_')
          expect.soft((body as { entities?: unknown[] }).entities ?? [], `${path} ${text}`).toEqual([]);
        n += 1;
      }
      for (const orderByField of [
        'id; drop table app_user',
        '(select 1)',
        'password_hash',
        '__proto__',
        'constructor',
      ]) {
        const { status } = await app.post(path, { entityFilterRequest: { orderByField } }, mine());
        expect.soft(status, `${path} by ${orderByField}`).not.toBe(500);
        n += 1;
      }
    }
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from app_user`.execute(app.ctx.db);
    console.log(`hostile searches: n = ${n} over ${lists.length} lists`);
    expect([n > 0, rows[0]?.n]).toEqual([true, 1]);
  });

  it('for a page of more than 100 rows is refused, in every list', async () => {
    const operator = await app.signUp();
    await makeOperator(app.ctx, operator);
    const headers = {
      authorization: `Bearer ${operator.tokens().accessToken}`,
      'x-client-id': String(operator.workspaceId),
    };
    const lists = everyCall().filter(({ input }) =>
      input.safeParse({ entityFilterRequest: 1 }).error?.issues.some(isOfPage),
    );
    for (const { path } of lists) {
      const { status, body } = await app.post(path, { entityFilterRequest: { limit: 101 } }, headers);
      expect(status, `${path} took a page of 101 rows`).toBe(400);
      expect((body as ErrorBody).fieldMessages, path).toHaveProperty(['entityFilterRequest.limit']);
    }
    console.log(`lists that refuse a page of 101 rows: n = ${lists.length}`);
    expect(lists.length).toBeGreaterThan(20);
  });
});

describe('an access token', () => {
  it('is refused unless it is ours, unchanged, unexpired, for this purpose and signed with our algorithm', async () => {
    const { accessToken } = alice.tokens();
    const [header = '', payload = '', signature = ''] = accessToken.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const { privateKey, publicKey, publicJwk } = app.ctx.keys.access;
    const sign = (change: Record<string, unknown>, protectedHeader = {}, key = privateKey) =>
      new SignJWT({ ...claims, ...change })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...protectedHeader })
        .sign(key);
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const hmac = (head: object): string => {
      const signed = `${part(head)}.${payload}`;
      const secret = publicKey.export({ format: 'pem', type: 'spki' });
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    const now = Math.floor(Date.now() / 1000);
    const forged: Record<string, string> = {
      'another user in it': `${header}.${part({ ...claims, sub: '2' })}.${signature}`,
      'a cut signature': accessToken.slice(0, -4),
      'no signature': `${header}.${payload}.`,
      'alg none': new UnsecuredJWT(claims).encode(),
      'the public key as a secret': hmac({ alg: 'HS256', typ: 'at+jwt' }),
      'a key of its own': await sign({}, { jwk: publicJwk }, (await otherKey()) as never),
      'a key address': await sign({}, { jku: 'https://evil.example/keys' }, (await otherKey()) as never),
      'another type': await sign({}, { typ: 'JWT' }),
      'another audience': await sign({ aud: 'daemon-enrol' }),
      'another issuer': await sign({ iss: 'evil' }),
      'time that is over': await sign({ exp: now - 1 }),
      'no end': await sign({ exp: undefined }),
      'time that has not come': await sign({ nbf: now + 600 }),
      'no session': await sign({ sid: undefined }),
      'the key of daemons': await sign({}, {}, app.ctx.keys.command.privateKey),
    };
    expect((await app.post(api.user.profile.path, {}, { authorization: `Bearer ${await sign({})}` })).status).toBe(200);
    for (const [what, token] of Object.entries(forged)) {
      const { status } = await app.post(api.user.profile.path, {}, { authorization: `Bearer ${token}` });
      expect.soft(status, what).toBe(401);
    }
    console.log(`forged access tokens: n = ${Object.keys(forged).length}, 0 accepted`);
  });
});

it('a new platform has no default account', async () => {
  const fresh = await startTestApp();
  try {
    expect(await fresh.ctx.db.selectFrom('app_user').selectAll().execute()).toEqual([]);
  } finally {
    await fresh.close();
  }
});

async function otherKey() {
  const { generateKeyPair } = await import('jose');
  return (await generateKeyPair('EdDSA')).privateKey;
}
