import { api } from '@stagi/contract/api.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { anApiToken } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closePublicPort, setVisibility, takeRightsToPort } from './closedPorts.ts';
import { PORTS_DOMAIN as DOMAIN } from './portLab.ts';
import { sendBytes, upgrade, type Visit, visitPort } from './portVisitor.ts';
import { cookieOf, type PrivatePort, startPrivatePort } from './privatePort.ts';
import { until } from './until.ts';

let port: PrivatePort;
let app: TestApp;
let owner: Person;
let containerId: number;
let slug: string;
let host: string;
let pass: string;
let reached: string[];

beforeAll(async () => {
  port = await startPrivatePort();
  ({ app, owner, containerId, slug, host, pass, reached } = port);
});
afterAll(() => port?.close());

const origin = (): string => `http://${host}`;

it('lets nothing through to a private port without the right to see it', async () => {
  const stranger = await app.signUp('Mallory');
  const [billing, gone] = [await app.signUp(), await app.signUp()];
  await port.addMember(billing, 'Billing');
  await port.addMember(gone, 'Developer');
  const inWorkspace = (person: Person): Person => ({ ...person, workspaceId: owner.workspaceId });
  const tokenOf = async (person: Person, given = {}) => (await anApiToken(app.ctx, person, given)).token;
  const good = await tokenOf(owner);
  const archived = await anApiToken(app.ctx, owner);
  await app.ctx.db
    .updateTable('api_token')
    .set({ archived_at: new Date(), archived_by: 'archived' })
    .where('id', '=', archived.id)
    .execute();
  const goneToken = await tokenOf(inWorkspace(gone));
  const gonePass = await port.passFor(gone);
  await owner.client(api.clients.removeMember, { userId: gone.userId });
  const expired = await tokenOf(owner, { expiresAt: new Date(Date.now() - 1000) });
  const narrow = await tokenOf(owner, { permissions: ['BILLING'] });
  const otherPort = await forge({ at: `${slug}-8081` });
  const tokens: Record<string, string> = {
    'a stranger’s': await tokenOf(stranger),
    'a member’s who may not see containers': await tokenOf(inWorkspace(billing)),
    'without the permission': narrow,
    'a removed member’s': goneToken,
    archived: archived.token,
    expired,
    'with another secret': good.replace(/.{6}$/, 'AAAAAA'),
    'of another id': good.replace(/^stg_\d+/, 'stg_999'),
    cut: good.slice(0, -1),
    'made up': 'stg_1_x',
  };
  const corpus: Record<string, Visit> = {
    'nothing shown': {},
    'as a page': { headers: { accept: 'text/html' } },
    'the session of the platform': { headers: { authorization: `Bearer ${owner.tokens().accessToken}` } },
    'a refresh token': { headers: { 'x-stagi-token': owner.tokens().refreshToken } },
    'a token in the address': { path: `/?token=${good}` },
    'a token in a cookie': { headers: { cookie: `stagi-token=${good}; stagi-port=${good}` } },
    'Basic with a token': { headers: { authorization: `Basic ${Buffer.from(`x:${good}`).toString('base64')}` } },
    'a forwarded host': { headers: { 'x-forwarded-host': host, 'x-forwarded-for': '127.0.0.1' } },
    'no pass': { headers: cookieOf('') },
    'a pass of another port': { headers: cookieOf(otherPort) },
    'a pass by another key': { headers: cookieOf(await forge({}, app.ctx.keys.command.privateKey)) },
    'an expired pass': { headers: cookieOf(await forge({ exp: 1 })) },
    'a pass of another container': { headers: cookieOf(await forge({ cid: containerId + 1 })) },
    'a pass of another user': { headers: cookieOf(await forge({}, undefined, stranger.userId)) },
    'a removed member’s pass': { headers: cookieOf(gonePass) },
    'a pass under another name': { headers: { cookie: `Stagi-Port=${pass}; stagi-portal=x` } },
    'a pass as a header': { headers: { 'stagi-port': pass } },
    'a pass as a token': { headers: { authorization: `Bearer ${pass}` } },
    'planted cookies': { headers: { cookie: `stagi-port=${otherPort}; stagi-port=x; =stagi-port=y` } },
    'a pass with a wrong origin': { method: 'POST', headers: { ...cookieOf(pass), origin: 'http://evil.example' } },
    'a pass without an origin': { method: 'POST', headers: cookieOf(pass) },
    'a pass with the origin null': { method: 'PUT', headers: { ...cookieOf(pass), origin: 'null' } },
    'a pass from another port': {
      method: 'DELETE',
      headers: { ...cookieOf(pass), origin: `http://${slug}-8081.${DOMAIN}` },
    },
    'a pass with the origin in other letters': {
      method: 'POST',
      headers: { ...cookieOf(pass), origin: origin().toUpperCase() },
    },
    'a fetch of another site': { headers: { ...cookieOf(pass), ...fetchFrom('cross-site', 'cors', 'empty') } },
    'an image of another port': { headers: { ...cookieOf(pass), ...fetchFrom('same-site', 'no-cors', 'image') } },
    'a script of another port': { headers: { ...cookieOf(pass), ...fetchFrom('same-site', 'no-cors', 'script') } },
    'a frame of another port': { headers: { ...cookieOf(pass), ...fetchFrom('same-site', 'navigate', 'iframe') } },
    'a form of another site': {
      method: 'POST',
      headers: { ...cookieOf(pass), ...fetchFrom('cross-site', 'navigate', 'document') },
    },
    'an origin that an old browser tells': { headers: { ...cookieOf(pass), origin: 'http://evil.example' } },
    'a preflight': {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
    },
  };
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE'])
    corpus[`${method} with nothing`] = { method, body: method === 'POST' ? 'x'.repeat(2_000_000) : undefined };
  for (const [what, token] of Object.entries(tokens)) {
    corpus[`Authorization: ${what}`] = { headers: { authorization: `Bearer ${token}` } };
    corpus[`X-Stagi-Token: ${what}`] = { headers: { 'x-stagi-token': token } };
  }
  reached.length = 0;
  let n = 0;
  for (const [what, visit] of Object.entries(corpus)) {
    const { status } = await visitPort(app, host, visit);
    expect.soft([302, 401, 403, 404], `${what}: ${status}`).toContain(status);
    n += 1;
    const asSocket = await upgrade(app, host, visit.headers as Record<string, string>);
    expect.soft(asSocket.status, `WebSocket, ${what}`).not.toBe(101);
    n += 1;
  }
  for (const name of [`${slug}-8082.${DOMAIN}`, `${slug}-80.${DOMAIN}`, DOMAIN, `x.${host}`, `${slug}.${DOMAIN}`]) {
    const { status } = await visitPort(app, name, { headers: { ...cookieOf(pass), 'x-stagi-token': good } });
    expect.soft([302, 401, 404], `${name}: ${status}`).toContain(status);
    n += 1;
  }
  expect(reached).toEqual([]);
  console.log(`ports: n = ${n} requests and WebSockets without the right, 0 reached the container`);
  expect(n).toBeGreaterThanOrEqual(100);
});

const fetchFrom = (site: string, mode: string, dest: string) => ({
  'sec-fetch-site': site,
  'sec-fetch-mode': mode,
  'sec-fetch-dest': dest,
});

async function forge(claims: object, key = app.ctx.keys.access.privateKey, userId = owner.userId): Promise<string> {
  const { payload } = await import('jose').then(({ decodeJwt }) => ({ payload: decodeJwt(pass) }));
  return new SignJWT({ ...payload, sub: String(userId), ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'port+jwt' })
    .sign(key);
}

it('lets through whoever may see the container', async () => {
  const { token } = await anApiToken(app.ctx, owner);
  const member = await app.signUp();
  await port.addMember(member, 'Developer');
  const ways: Record<string, Visit> = {
    'a token': { headers: { authorization: `Bearer ${token}` } },
    'a token, in other letters': { headers: { authorization: `bEARER ${token}` } },
    'a token of its own': { method: 'POST', headers: { 'x-stagi-token': token, authorization: 'Bearer sk-other' } },
    'a pass': { headers: cookieOf(pass) },
    'a member’s pass': { headers: cookieOf(await port.passFor(member)) },
    'a pass, from its own page': {
      method: 'POST',
      headers: { ...cookieOf(pass), origin: origin(), ...fetchFrom('same-origin', 'cors', 'empty') },
    },
    'a typed address': { headers: { ...cookieOf(pass), ...fetchFrom('none', 'navigate', 'document') } },
    'a link of another site': { headers: { ...cookieOf(pass), ...fetchFrom('cross-site', 'navigate', 'document') } },
    'a pass among planted cookies': {
      headers: { cookie: `stagi-port=x; stagi-port=${await forge({ exp: 1 })}; stagi-port=${pass}; stagi-port=a.b.c` },
    },
  };
  for (const [what, visit] of Object.entries(ways)) {
    const { status, body } = await visitPort(app, host, visit);
    expect.soft(status, what).toBe(200);
    expect.soft(body, what).not.toMatch(/stg_|stagi-port/);
  }
  const byCookie = await upgrade(app, host, { ...cookieOf(pass), origin: origin() });
  expect(byCookie.status).toBe(101);
  byCookie.socket?.destroy();
  const byToken = await upgrade(app, host, { authorization: `Bearer ${token}` });
  expect(byToken.status).toBe(101);
  byToken.socket?.destroy();
});

it('refuses bytes that two parsers could read differently', async () => {
  const { token } = await anApiToken(app.ctx, owner);
  const key = `X-Stagi-Token: ${token}`;
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  const corpus: Record<string, string> = {
    'a length and chunks': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'two lengths': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nContent-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    'a length with a sign': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nContent-Length: +4\r\n\r\nbody`,
    'another coding': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'chunked in disguise': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'a space before the colon': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nContent-Length : 4\r\n\r\nbody`,
    'a folded header': `GET / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nX-A: b\r\n Transfer-Encoding: chunked\r\n\r\n`,
    'a bare line feed': `GET / HTTP/1.1\nHost: ${host}\n${key}\n\n`,
    'a bad chunk': `POST / HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n`,
    'an absolute address': `GET http://evil.example/ HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nConnection: close\r\n\r\n`,
    'the absolute address of the port': `GET http://${host}/ HTTP/1.1\r\nHost: evil.example\r\n${key}\r\nConnection: close\r\n\r\n`,
    'an asterisk': `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nConnection: close\r\n\r\n`,
    'a tunnel': `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${key}\r\n\r\n`,
    'two hosts': `GET / HTTP/1.1\r\nHost: evil.example\r\nHost: ${host}\r\n${key}\r\nConnection: close\r\n\r\n`,
    'no host': `GET / HTTP/1.1\r\n${key}\r\nConnection: close\r\n\r\n`,
    'a port of the host that is none': `GET / HTTP/1.1\r\nHost: ${host}99\r\n${key}\r\nConnection: close\r\n\r\n`,
    'a user in the host': `GET / HTTP/1.1\r\nHost: x@${host}\r\n${key}\r\nConnection: close\r\n\r\n`,
    'a space in the path': `GET /a b HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nConnection: close\r\n\r\n`,
  };
  reached.length = 0;
  let n = 0;
  for (const [what, bytes] of Object.entries(corpus)) {
    const answer = await sendBytes(app, bytes);
    expect.soft(answer, what).not.toMatch(/headers /);
    n += 1;
  }
  expect(reached.filter((one) => one !== 'POST /')).toEqual([]);
  console.log(`ports: n = ${n} ambiguous requests, 0 smuggled`);
});

it('ends open WebSockets, and closes the port, after a removal', async () => {
  expect(await takeRightsToPort(port)).toHaveLength(3);
});

it('opens a public port to everybody, and to nobody once it is private again', async () => {
  const { entity } = await setVisibility(port, 'public');
  expect(entity.portMappings).toMatchObject([
    { host: 8080, visibility: 'public' },
    { host: 8081, visibility: 'private' },
  ]);
  const { token } = await anApiToken(app.ctx, owner);
  const open = await until('it is open', async () => {
    const got = await visitPort(app, host, {
      method: 'POST',
      headers: { origin: 'http://evil.example', authorization: `Bearer ${token}`, cookie: `stagi-port=${pass}; a=1` },
    });
    return got.status === 200 ? got : null;
  });
  expect(open.body).toContain('cookie|a=1');
  expect(open.body).not.toContain(token);
  const other = { headers: { accept: 'application/json' } };
  expect((await visitPort(app, `${slug}-8081.${DOMAIN}`, other)).status).toBe(401);
  await closePublicPort(port);

  await expect(
    owner.client(api.containerAccess.editPorts, {
      ref: { id: containerId },
      portMappings: [
        { host: 8080, visibility: 'public' },
        { host: 9000, visibility: 'public' },
      ],
    }),
  ).rejects.toMatchObject({ status: 400, message: 'The container has no port 9000' });
  expect((await visitPort(app, host, other)).status).toBe(401);
});
