import { request } from 'node:http';
import { api } from '@stagi/contract/api.ts';
import { ROLE_PERMISSIONS, ROLES, type Role } from '@stagi/contract/permissions.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signAccessToken } from '../auth/accessToken.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aConsent, aContainer, anOwnServer, aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { admitted } from './pass.ts';

/** What the browser of somebody gets who asks for something on a host. */
interface Page {
  status: number;
  location: string | null;
  cookie: string | null;
  body: string;
}

/** No browser is asked to find it: the tests name it as their `Host`. */
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
    containerId = await aContainerWithPort(owner);
    slug = await slugOf(containerId);
    address = `http://${slug}-8080.${domain}/notebook?id=1#top`;
  });

  it('leads the owner by a code to the host of the port, and there by a cookie to where they wanted to go', async () => {
    const host = `${slug}-8080.${domain}`;
    const stranger = await visit(host, '/notebook?id=1');
    const page = new URL(stranger.location ?? '');
    expect([stranger.status, page.origin, page.pathname]).toEqual([
      302,
      app.ctx.config.appOrigin,
      `/container-auth/${slug}`,
    ]);
    expect(page.searchParams.get('returnUrl')).toBe(`http://${host}/notebook?id=1`);

    const { link } = await owner.client(api.containerAccess.enter, { slug, returnUrl: address });
    expect(link).toMatch(new RegExp(`^http://${host}/\\.stagi/enter\\?code=[\\w-]{43}$`));
    const entered = await follow(link);
    expect(entered).toMatchObject({ status: 303, location: address });
    expect(entered.cookie).toMatch(/^stagi-port=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);

    const pass = passOf(entered);
    expect(await admitted(app.ctx, { slug, port: 8080 }, pass)).toMatchObject({ containerId, userId: owner.userId });
    // Nothing serves the port itself yet; who is let in is not sent away any more.
    expect(await visit(host, '/notebook', pass)).toMatchObject({ status: 404, location: null });
    expect((await visit(host, '/data', undefined, { accept: 'application/json' })).status).toBe(401);
  });

  it('trades a code once, within a minute, on its own host', async () => {
    const link = async () => (await owner.client(api.containerAccess.enter, { slug, returnUrl: address })).link;
    const spent = await link();
    await follow(spent);
    const other = await slugOf(await aContainerWithPort(owner));
    const elsewhere = (text: string, to: string) => text.replace(`//${slug}-8080`, `//${to}`);
    const late = await link();
    await app.ctx.db.updateTable('container_code').set({ expires_at: sql<Date>`now()` }).execute();
    const strayed = await link();
    const refused = {
      'used twice': spent,
      'too late': late,
      'for another port': elsewhere(strayed, `${slug}-8081`),
      'and then for its own': strayed,
      'for another container': elsewhere(await link(), `${other}-8080`),
      'made up': `http://${slug}-8080.${domain}/.stagi/enter?code=${'A'.repeat(43)}`,
      'left out': `http://${slug}-8080.${domain}/.stagi/enter`,
    };
    let n = 0;
    for (const [what, tried] of Object.entries(refused)) {
      const { status, location, cookie } = await follow(tried);
      expect.soft([status, cookie], what).toEqual([302, null]);
      const page = new URL(location ?? '');
      expect.soft([page.origin, page.searchParams.get('failed')], what).toEqual([app.ctx.config.appOrigin, '1']);
      n += 1;
    }
    const at = await link();
    const atOnce = await Promise.all(Array.from({ length: 10 }, () => follow(at)));
    expect(atOnce.filter(({ cookie }) => cookie !== null)).toHaveLength(1);
    console.log(`codes that open nothing: n = ${n}; one of ${atOnce.length} at once opened`);
    expect(n).toBeGreaterThan(0);
  });

  it('keeps of a code its hash alone', async () => {
    const { link } = await owner.client(api.containerAccess.enter, { slug, returnUrl: address });
    const code = new URL(link).searchParams.get('code') ?? '';
    const { rows } = await sql<{ all: string }>`
      select string_agg(t::text, '|') as all from container_code t`.execute(app.ctx.db);
    expect(rows[0]?.all).toContain('/notebook');
    expect(rows[0]?.all).not.toContain(code);
  });

  it('asks for a permission of the container’s workspace, whichever is active', async () => {
    const own = await slugOf(await aContainerWithPort(owner, 'self-hosted'));
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
    const appOfTheirs = await signAccessToken(app.ctx.keys.access, owner.userId, await aConsent(app.ctx, owner));
    const byApp = { authorization: `Bearer ${appOfTheirs}` };
    expect((await app.post(api.containerAccess.enter.path, { slug, returnUrl: address }, byApp)).status).toBe(403);
    console.log(`visitors of a port: n = ${n}`);
    expect(n).toBeGreaterThan(0);
  });

  it('sends nobody to an address that is not the container’s, nor to a port that it has not', async () => {
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
    const { link } = await enter(`http://${slug}-8080.${domain}//evil.example/`);
    const { location } = await follow(link);
    expect(new URL(location ?? '').host).toBe(`${slug}-8080.${domain}`);
  });

  it('lets nobody in any more once session, membership, role, account or container have ended', async () => {
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
        const next = await aContainerWithPort(owner);
        await app.ctx.db.updateTable('container').set({ slug }).where('id', '=', next).execute();
      },
    };
    let n = 0;
    for (const [what, end] of Object.entries(ends)) {
      const member = await app.signUp();
      await setRole(member, 'Developer');
      const enter = async () => (await member.client(api.containerAccess.enter, { slug, returnUrl: address })).link;
      const pass = passOf(await follow(await enter()));
      const place = { slug, port: 8080 };
      expect(await admitted(app.ctx, place, pass), what).not.toBeNull();
      const unused = await enter();
      await end(member);
      expect.soft(await admitted(app.ctx, place, pass), what).toBeNull();
      expect.soft((await follow(unused)).cookie, what).toBeNull();
      await setPorts([{ host: 8080, container: 80, visibility: 'private' }]);
      n += 1;
    }
    console.log(`ends that shut a port: n = ${n}`);
    expect(n).toBeGreaterThan(0);
  });

  it('takes no pass of another host, another key or another kind, nor two at once', async () => {
    const { link } = await owner.client(api.containerAccess.enter, { slug, returnUrl: address });
    const pass = passOf(await follow(link));
    const place = { slug, port: 8080 };
    expect(await admitted(app.ctx, { slug, port: 8081 }, pass)).toBeNull();
    expect(await admitted(app.ctx, { slug: 'other', port: 8080 }, pass)).toBeNull();
    expect(await admitted(app.ctx, place, owner.tokens().accessToken)).toBeNull();
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
      expect.soft(await admitted(app.ctx, place, forged)).toBeNull();
    // Nor is it worth anything to the platform's own calls.
    expect((await app.post('user/profile', {}, { authorization: `Bearer ${pass}` })).status).toBe(401);
    const host = `${slug}-8080.${domain}`;
    expect((await visit(host, '/', pass)).status).toBe(404);
    expect((await visit(host, '/', `x; stagi-port=${pass}`)).status).toBe(302);
  });

  it('serves nothing of the platform on the hosts of ports', async () => {
    const { link } = await owner.client(api.containerAccess.enter, { slug, returnUrl: address });
    const pass = passOf(await follow(link));
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
        for (const shown of [undefined, pass]) {
          const { status, location, body } = await visit(host, path, shown);
          expect.soft([302, 404], `${host}${path}`).toContain(status);
          if (location) expect.soft(new URL(location).origin).toBe(app.ctx.config.appOrigin);
          expect.soft(body).not.toMatch(/<html|openapi|"version"/);
        }
    const call = await visit(`${slug}-8080.${domain}`, '/frontend-api/user/profile', pass, {
      authorization: `Bearer ${owner.tokens().accessToken}`,
      accept: 'application/json',
    });
    expect([call.status, call.body]).toEqual([404, expect.stringContaining('Not found')]);
  });

  it('says that ports cannot be opened where no domain is set up for them', async () => {
    const without = await startTestApp();
    try {
      const person = await without.signUp();
      const id = await aContainer(without.ctx, person, await aRentedInstance(without.ctx, person));
      const found = without.ctx.db.selectFrom('container').select('slug').where('id', '=', id);
      const { slug } = await found.executeTakeFirstOrThrow();
      await expect(
        person.client(api.containerAccess.enter, { slug, returnUrl: 'https://x-8080.apps.example/' }),
      ).rejects.toMatchObject({ status: 200, message: expect.stringContaining('the operator has set up no domain') });
    } finally {
      await without.close();
    }
  });

  async function aContainerWithPort(of: Person, kind: 'rented' | 'self-hosted' = 'rented'): Promise<number> {
    const server = kind === 'rented' ? await aRentedInstance(app.ctx, of) : await anOwnServer(app.ctx, of);
    const id = await aContainer(app.ctx, of, server);
    const ports = JSON.stringify([{ host: 8080, container: 80, visibility: 'private' }]);
    await app.ctx.db.updateTable('container').set({ ports }).where('id', '=', id).execute();
    return id;
  }

  async function setPorts(ports: object[]): Promise<void> {
    await app.ctx.db
      .updateTable('container')
      .set({ ports: JSON.stringify(ports) })
      .where('id', '=', containerId)
      .execute();
  }

  async function slugOf(id: number): Promise<string> {
    const found = app.ctx.db.selectFrom('container').select('slug').where('id', '=', id);
    return (await found.executeTakeFirstOrThrow()).slug;
  }

  async function setRole({ userId }: Person, role: Role): Promise<void> {
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: owner.workspaceId, user_id: userId, role })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role }))
      .execute();
  }

  const follow = (link: string): Promise<Page> => {
    const { host, pathname, search } = new URL(link);
    return visit(host, pathname + search);
  };

  /** As a browser that found this platform under that name. */
  function visit(host: string, path: string, pass?: string, headers: Record<string, string> = {}): Promise<Page> {
    const { port } = new URL(app.url);
    const cookie = pass === undefined ? {} : { cookie: `stagi-port=${pass}` };
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port, path, headers: { host, accept: 'text/html', ...cookie, ...headers } },
        (reply) => {
          let body = '';
          reply.setEncoding('utf8').on('data', (part: string) => {
            body += part;
          });
          reply.on('end', () =>
            resolve({
              status: reply.statusCode ?? 0,
              location: reply.headers.location ?? null,
              cookie: reply.headers['set-cookie']?.[0] ?? null,
              body,
            }),
          );
        },
      );
      asked.on('error', reject).end();
    });
  }
});

const passOf = ({ cookie }: Page): string => /^stagi-port=([^;]+)/.exec(cookie ?? '')?.[1] ?? '';
