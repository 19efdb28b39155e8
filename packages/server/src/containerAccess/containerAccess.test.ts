import { api } from '@stagi/contract/api.ts';
import { ROLE_PERMISSIONS, ROLES, type Role } from '@stagi/contract/permissions.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signAccessToken } from '../sessions/accessToken.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainerWithPort } from '../testing/containerWithPort.ts';
import { anAuthorizedApp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { finishAccessRequest, hashOfState, startAccessRequest } from './accessRequest.ts';
import { isOwnCookie } from './cookies.ts';
import { authorizePass } from './pass.ts';
import { type Page, passOf, requestCookieOf, stateOf, visitHost, withPass } from './testing/portHost.ts';

/** A link with a code, and the access request's cookie of the browser that may follow it. */
interface Way {
  link: string;
  trip: string;
}

/** Not resolved: the tests send it as their `Host` header. */
const domain = 'apps.localhost:4400';

describe('the access page of a container', () => {
  let app: TestApp;
  let owner: Person;
  let containerId: number;
  let slug: string;
  let address: string;

  beforeAll(async () => {
    app = await startTestApp({ APPS_DOMAIN: domain });
    owner = await app.signUp('Ada');
  });
  afterAll(() => app?.close());
  beforeEach(async () => {
    ({ id: containerId, slug } = await aContainerWithPort(app.ctx, owner));
    address = `http://${slug}-8080.${domain}/notebook?id=1#top`;
  });

  it('redirects the owner with a code to the port’s host, which sets a cookie and redirects to the wanted page', async () => {
    const host = `${slug}-8080.${domain}`;
    const stranger = await visit(host, '/notebook?id=1');
    const page = new URL(stranger.location ?? '');
    expect([stranger.status, page.origin, page.pathname]).toEqual([
      302,
      app.ctx.config.appOrigin,
      `/container-auth/${slug}`,
    ]);
    expect(page.searchParams.get('returnUrl')).toBe(`http://${host}/notebook?id=1`);
    expect(stranger.cookies).toEqual([
      expect.stringMatching(/^stagi-trip-[0-9a-f]{16}=[\w-]{43}; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax$/),
    ]);

    const way = await wayOf(owner);
    expect(way.link).toMatch(new RegExp(`^http://${host}/\\.stagi/enter\\?code=[\\w-]{43}$`));
    const entered = await follow(way);
    expect(entered).toMatchObject({ status: 303, location: address });
    // The cookie of the access request is cleared.
    expect(entered.cookies[2]).toMatch(new RegExp(`^${way.trip.split('=')[0]}=; Path=/; Max-Age=0;`));
    expect(entered.cookie).toMatch(/^stagi-port=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);

    const pass = passOf(entered);
    expect(await authorizePass(app.ctx, { slug, port: 8080 }, pass)).toMatchObject({
      containerId,
      userId: owner.userId,
    });
    // It is authorized; its server has no daemon.
    expect(await visit(host, '/notebook', withPass(pass))).toMatchObject({ status: 503, location: null });
    expect((await visit(host, '/data', { accept: 'application/json' })).status).toBe(401);
  });

  it('has the browser forget what it holds of another container that had this host before', async () => {
    const first = await follow(await wayOf(owner));
    expect(first.clears).toBe('"cache", "storage"');
    const known = /^stagi-port-of=\d+/.exec(first.cookies.find((one) => one.startsWith('stagi-port-of=')) ?? '')?.[0];
    expect(known).toBe(`stagi-port-of=${containerId}`);
    const followWith = async (cookies: string): Promise<Page> => {
      const { link, trip } = await wayOf(owner);
      return follow({ link, trip: `${trip}; ${cookies}` });
    };
    expect((await followWith(known!)).clears).toBeNull();
    expect((await followWith('stagi-port-of=1')).clears).toBe('"cache", "storage"');
    // Another port's page may have set one more.
    expect((await followWith(`stagi-port-of=1; ${known}`)).clears).toBe('"cache", "storage"');
    // It is passed on to no container, and no container may set it.
    expect(isOwnCookie('stagi-port-of')).toBe(true);
  });

  it('exchanges a code once, within a minute, on its own host', async () => {
    const spent = await wayOf(owner);
    await follow(spent);
    const { slug: other } = await aContainerWithPort(app.ctx, owner);
    const elsewhere = ({ link, trip }: Way, to: string): Way => ({
      link: link.replace(`//${slug}-8080`, `//${to}`),
      trip,
    });
    const late = await wayOf(owner);
    await app.ctx.db.updateTable('container_code').set({ expires_at: sql<Date>`now()` }).execute();
    const strayed = await wayOf(owner);
    const { trip } = strayed;
    const refused = {
      'used twice': spent,
      'too late': late,
      'for another port': elsewhere(strayed, `${slug}-8081`),
      'and then for its own': strayed,
      'for another container': elsewhere(await wayOf(owner), `${other}-8080`),
      'made up': { link: `http://${slug}-8080.${domain}/.stagi/enter?code=${'A'.repeat(43)}`, trip },
      'left out': { link: `http://${slug}-8080.${domain}/.stagi/enter`, trip },
    };
    let n = 0;
    for (const [what, tried] of Object.entries(refused)) {
      const { status, location, cookies } = await follow(tried);
      expect.soft([status, cookies], what).toEqual([302, []]);
      const page = new URL(location ?? '');
      expect.soft([page.origin, page.searchParams.get('failed')], what).toEqual([app.ctx.config.appOrigin, '1']);
      n += 1;
    }
    const at = await wayOf(owner);
    const atOnce = await Promise.all(Array.from({ length: 10 }, () => follow(at)));
    expect(atOnce.filter(({ cookie }) => cookie !== null)).toHaveLength(1);
    console.log(`codes that open nothing: n = ${n}; one of ${atOnce.length} at once opened`);
    expect(n).toBeGreaterThan(0);
  });

  it('accepts a code only in the browser that started the access request', async () => {
    const mallory = await app.signUp('Mallory');
    await setRole(mallory, 'Developer');
    const host = `${slug}-8080.${domain}`;
    const victim = requestCookieOf(await visit(host, '/'));
    const [name = '', secret = ''] = victim.split('=');
    const brought: Record<string, (way: Way) => string | null> = {
      'a browser that began none': () => null,
      'a browser that began another one': () => victim,
      'the secret of another one under this name': ({ trip }) => `${trip.split('=')[0]}=${secret}`,
      'the state in place of the secret': ({ trip }) => `${trip.split('=')[0]}=${stateOf(trip)}`,
      'no secret': ({ trip }) => `${trip.split('=')[0]}=`,
    };
    let n = 0;
    for (const [what, cookieOf] of Object.entries(brought)) {
      const way = await wayOf(mallory);
      const { status, cookies, location } = await follow(way, cookieOf(way));
      expect.soft([status, cookies], what).toEqual([302, []]);
      expect.soft(new URL(location ?? '').searchParams.get('failed'), what).toBe('1');
      // The attempt has consumed it: it is refused in the right browser too.
      expect.soft((await follow(way)).cookie, what).toBeNull();
      n += 1;
    }
    // Without an access request there is no code: the browser is sent to the host first.
    for (const trip of [undefined, '', 'x', `${'A'.repeat(42)}+`, name]) {
      const { link } = await mallory.client(api.containerAccess.enter, { slug, returnUrl: address, trip });
      expect.soft(link, `trip ${trip}`).toBe(address);
      n += 1;
    }
    console.log(`codes in another browser: n = ${n}, 0 opened`);
    expect(n).toBeGreaterThan(0);
  });

  it('keeps the access requests of several tabs apart, and limits how many there are', async () => {
    const host = `${slug}-8080.${domain}`;
    const opened = await Promise.all(Array.from({ length: 5 }, () => visit(host, '/notebook')));
    const jar = opened.map(requestCookieOf);
    expect(new Set(jar.map((cookie) => cookie.split('=')[0])).size).toBe(5);
    for (const trip of jar) {
      const { link } = await owner.client(api.containerAccess.enter, {
        slug,
        returnUrl: address,
        trip: stateOf(trip),
      });
      expect.soft(passOf(await follow({ link, trip }, jar.join('; ')))).not.toBe('');
    }
    const many: string[] = [];
    for (let page = 0; page < 20; page += 1) {
      const trip = requestCookieOf(await visit(host, '/', { cookie: many.join('; ') }));
      if (!many.includes(trip)) many.push(trip);
    }
    expect(many).toHaveLength(16);
  });

  it('sets `__Host-` cookies, which no other host can read or set, where there is HTTPS', () => {
    const config = { appsDomain: { protocol: 'https:' as const, host: 'apps.example' } };
    const { state, setCookie } = startAccessRequest(config, undefined);
    expect(setCookie).toMatch(
      /^__Host-stagi-trip-[0-9a-f]{16}=[\w-]{43}; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure$/,
    );
    const [pair = ''] = setCookie.split(';');
    expect(finishAccessRequest(config, pair, hashOfState(state))).toMatch(
      /^__Host-stagi-trip-[0-9a-f]{16}=; .*Max-Age=0/,
    );
    expect(finishAccessRequest(config, pair.replace('__Host-', ''), hashOfState(state))).toBeNull();
    expect(finishAccessRequest(config, pair, null)).toBeNull();
  });

  it('stores only the hash of a code', async () => {
    const { link } = await wayOf(owner);
    const code = new URL(link).searchParams.get('code') ?? '';
    const { rows } = await sql<{ all: string }>`
      select string_agg(t::text, '|') as all from container_code t`.execute(app.ctx.db);
    expect(rows[0]?.all).toContain('/notebook');
    expect(rows[0]?.all).not.toContain(code);
  });

  it('requires a permission in the container’s workspace, whichever is active', async () => {
    const { slug: own } = await aContainerWithPort(app.ctx, owner, 'self-hosted');
    const member = await app.signUp();
    const outsider = await app.signUp();
    const enter = async (person: Person, at: string) =>
      app.post(
        api.containerAccess.enter.path,
        { slug: at, returnUrl: `http://${at}-8080.${domain}/` },
        { authorization: `Bearer ${person.tokens().accessToken}` },
      );
    let n = 0;
    for (const role of ROLES) {
      await setRole(member, role);
      for (const one of [slug, own]) {
        const reply = await enter(member, one);
        const may = ROLE_PERMISSIONS[role].includes('PROJECT_MANAGEMENT');
        expect.soft(reply.status, `${role} at ${one}`).toBe(may ? 200 : 403);
        n += 1;
      }
    }
    const foreign = await enter(outsider, slug);
    for (const absent of ['no-such-container', 'x', '../web', 'Web', '']) {
      const reply = await enter(outsider, absent);
      expect.soft({ ...reply, body: { ...(reply.body as object), requestId: '' } }, absent).toEqual({
        ...foreign,
        body: { ...(foreign.body as object), requestId: '' },
      });
      n += 1;
    }
    expect(foreign.status).toBe(404);
    const appOfTheirs = await signAccessToken(app.ctx.keys.access, owner.userId, await anAuthorizedApp(app.ctx, owner));
    const byApp = { authorization: `Bearer ${appOfTheirs}` };
    expect((await app.post(api.containerAccess.enter.path, { slug, returnUrl: address }, byApp)).status).toBe(403);
    console.log(`visitors of a port: n = ${n}`);
    expect(n).toBeGreaterThan(0);
  });

  it('refuses to redirect to an address that is not the container’s, or to a port that it does not have', async () => {
    const enter = (returnUrl: string) => owner.client(api.containerAccess.enter, { slug, returnUrl });
    for (const returnUrl of [
      'https://evil.example/',
      `http://${slug}-8080.${domain}.evil.example/`,
      `http://${slug}-8080.${domain}@evil.example/`,
      `https://${slug}-8080.${domain}/`,
      `http://other-8080.${domain}/`,
      '/',
      '',
    ])
      await expect
        .soft(enter(returnUrl), returnUrl)
        .rejects.toMatchObject({ status: 400, message: 'This address does not belong to the container' });
    await expect(enter(`http://${slug}-8081.${domain}/`)).rejects.toThrow('The container has no port 8081');
    const { location } = await follow(await wayOf(owner, `http://${slug}-8080.${domain}//evil.example/`));
    expect(new URL(location ?? '').host).toBe(`${slug}-8080.${domain}`);
  });

  it('refuses access once session, membership, role, account or container are gone', async () => {
    const ends: Record<string, (member: Person) => Promise<unknown>> = {
      'logged out': ({ client, tokens }) => client(api.auth.logout, { refreshToken: tokens().refreshToken }),
      removed: ({ userId }) => owner.client(api.clients.removeMember, { userId }),
      'given a role without it': ({ userId }) => owner.client(api.clients.editMember, { userId, role: 'Billing' }),
      disabled: ({ userId }) =>
        app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', userId).execute(),
      'port taken away': () => setPorts([]),
      'container replaced': async () => {
        await app.ctx.db
          .updateTable('container')
          .set({ deleted_at: new Date(), slug: `${slug}-gone` })
          .where('id', '=', containerId)
          .execute();
        const next = await aContainerWithPort(app.ctx, owner);
        await app.ctx.db.updateTable('container').set({ slug }).where('id', '=', next.id).execute();
      },
    };
    let n = 0;
    for (const [what, end] of Object.entries(ends)) {
      const member = await app.signUp();
      await setRole(member, 'Developer');
      const pass = passOf(await follow(await wayOf(member)));
      const place = { slug, port: 8080 };
      expect(await authorizePass(app.ctx, place, pass), what).not.toBeNull();
      const unused = await wayOf(member);
      await end(member);
      expect.soft(await authorizePass(app.ctx, place, pass), what).toBeNull();
      expect.soft((await follow(unused)).cookie, what).toBeNull();
      await setPorts([{ host: 8080, container: 80, visibility: 'private' }]);
      n += 1;
    }
    console.log(`ends that shut a port: n = ${n}`);
    expect(n).toBeGreaterThan(0);
  });

  it('refuses a pass of another host, key or type, and finds the right one among others', async () => {
    const pass = passOf(await follow(await wayOf(owner)));
    const place = { slug, port: 8080 };
    expect(await authorizePass(app.ctx, { slug, port: 8081 }, pass)).toBeNull();
    expect(await authorizePass(app.ctx, { slug: 'other', port: 8080 }, pass)).toBeNull();
    expect(await authorizePass(app.ctx, place, owner.tokens().accessToken)).toBeNull();
    const [head, body] = pass.split('.') as [string, string];
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
    const unsigned = `${Buffer.from('{"alg":"none","typ":"port+jwt"}').toString('base64url')}.${body}.`;
    const otherKey = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', typ: 'port+jwt' })
      .sign(app.ctx.keys.command.privateKey);
    const expired = await new SignJWT({ ...claims, exp: 1 })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'port+jwt' })
      .sign(app.ctx.keys.access.privateKey);
    for (const forged of [unsigned, otherKey, expired, `${head}.${body}.AAAA`, '', 'x', `${pass}x`])
      expect.soft(await authorizePass(app.ctx, place, forged)).toBeNull();
    // The platform's own calls refuse it too.
    expect((await app.post('user/profile', {}, { authorization: `Bearer ${pass}` })).status).toBe(401);
    const host = `${slug}-8080.${domain}`;
    // Authorized; its server has no daemon.
    expect((await visit(host, '/', withPass(pass))).status).toBe(503);
    // Another port's page has set cookies of this name for the whole domain: they open nothing and lock nobody out.
    for (const planted of ['x', otherKey, unsigned, expired, `${pass}x`, `x; stagi-port=${otherKey}`]) {
      expect.soft((await visit(host, '/', withPass(planted))).status).toBe(302);
      expect.soft((await visit(host, '/', withPass(`${planted}; stagi-port=${pass}`))).status).toBe(503);
      expect.soft((await visit(host, '/', withPass(`${pass}; stagi-port=${planted}`))).status).toBe(503);
    }
  });

  it('serves nothing of the platform on the hosts of ports', async () => {
    const pass = passOf(await follow(await wayOf(owner)));
    const hosts = [`${slug}-8080.${domain}`, `${slug}-8080.${domain}`.toUpperCase(), domain, `a.b.${domain}`];
    for (const host of hosts)
      for (const path of [
        '/',
        '/sign-in',
        '/openapi.json',
        '/configuration.json',
        '/dev/mail',
        '//',
        '//evil.example/',
      ])
        for (const shown of [{}, withPass(pass)]) {
          const { status, location, body } = await visit(host, path, shown);
          expect.soft([302, 404, 503], `${host}${path}`).toContain(status);
          if (location) expect.soft(new URL(location).origin).toBe(app.ctx.config.appOrigin);
          expect.soft(body).not.toMatch(/<script|openapi|"version"/);
        }
    const call = await visit(`${slug}-8080.${domain}`, '/frontend-api/user/profile', {
      ...withPass(pass),
      authorization: `Bearer ${owner.tokens().accessToken}`,
      accept: 'application/json',
    });
    expect([call.status, call.body]).toEqual([503, expect.stringContaining('The server cannot be reached')]);
  });

  it('says so where no domain for ports is configured', async () => {
    const without = await startTestApp({ APPS_DOMAIN: 'off' });
    try {
      const person = await without.signUp();
      const { slug } = await aContainerWithPort(without.ctx, person);
      await expect(
        person.client(api.containerAccess.enter, { slug, returnUrl: 'https://x-8080.apps.example/' }),
      ).rejects.toMatchObject({
        status: 200,
        message: expect.stringContaining('the operator has not set up a domain'),
      });
    } finally {
      await without.close();
    }
  });

  async function setPorts(ports: object[]): Promise<void> {
    await app.ctx.db
      .updateTable('container')
      .set({ ports: JSON.stringify(ports) })
      .where('id', '=', containerId)
      .execute();
  }

  async function setRole({ userId }: Person, role: Role): Promise<void> {
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: owner.workspaceId, user_id: userId, role })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role }))
      .execute();
  }

  /** As a browser does it: an access request from the host, and a code for it. */
  async function wayOf({ client }: Person, returnUrl = address): Promise<Way> {
    const trip = requestCookieOf(await visit(new URL(returnUrl).host, '/'));
    const { link } = await client(api.containerAccess.enter, { slug, returnUrl, trip: stateOf(trip) });
    return { link, trip };
  }

  const follow = ({ link, trip }: Way, cookie: string | null = trip): Promise<Page> => {
    const { host, pathname, search } = new URL(link);
    return visit(host, pathname + search, cookie === null ? {} : { cookie });
  };

  const visit = (host: string, path: string, headers?: Record<string, string>) => visitHost(app, host, path, headers);
});
