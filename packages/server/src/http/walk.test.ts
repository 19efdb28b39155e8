import { createHash } from 'node:crypto';
import { api, everyCall } from '@stagi/contract/api.ts';
import { type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import type { Reply } from '@stagi/contract/client.ts';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSecret, writeApiToken } from '../secrets/apiToken.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  aConsent,
  aContainer,
  anApiToken,
  anOwnServer,
  anSshKey,
  aPasskey,
  aRentedInstance,
  aStray,
} from '../testing/factories.ts';

import type { Person } from '../testing/person.ts';

interface Ids {
  instance: number;
  own: number;
  container: number;
  sshKey: number;
  stray: number;
  session: string;
  apiToken: number;
  consent: string;
  member: number;
  passkey: number;
}
type Sample = { input: (ids: Ids) => unknown /** How a foreign id is refused. */; foreign?: 404 | 400 };

const NO_PASSKEY = {
  id: 'abc',
  rawId: 'abc',
  type: 'public-key',
  response: { clientDataJSON: 'abc', attestationObject: 'abc' },
};

const ASKED = {
  client_id: 'stagi-cli',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  redirect_uri: 'http://127.0.0.1:4999/callback',
  response_type: 'code',
  state: 'walk',
};

/** A valid request for every call that needs a session. A call without one fails the walk. */
const SAMPLES: Record<string, Sample> = {
  'stream-ticket': { input: () => ({}) },
  'client/create': { input: () => ({ name: 'walk' }) },
  'client/edit': { input: () => ({ newName: 'walked' }) },
  'client/leave': { input: () => ({}) },
  'client/role/list': { input: () => ({}) },
  'client/member/list': { input: () => ({}) },
  'client/member/edit': { input: ({ member }) => ({ userId: member, role: 'Guest' }), foreign: 404 },
  'client/member/remove': { input: ({ member }) => ({ userId: member }), foreign: 404 },
  'api-token/list': { input: () => ({}) },
  'api-token/create': { input: () => ({ description: 'walk' }) },
  'api-token/archive': { input: ({ apiToken }) => ({ id: apiToken }), foreign: 404 },
  'api-token/cli/check': { input: () => ({ clientVersion: '1.0.0' }) },
  'auth/session/list': { input: () => ({}) },
  'auth/session/revoke': { input: ({ session }) => ({ id: session }), foreign: 404 },
  'auth/identity/list': { input: () => ({}) },
  'auth/identity/begin': { input: () => ({ provider: 'github' }) },
  'auth/identity/connect': { input: () => ({ provider: 'github', code: 'c', state: 's' }) },
  'auth/identity/disconnect': { input: () => ({ provider: 'github' }) },
  'authorization/oauth/pkce/get-authorization-code': { input: () => ASKED },
  'authorization/oauth/pkce/view': { input: () => ASKED },
  'authorization/consent/list': { input: () => ({}) },
  'authorization/consent/revoke': { input: ({ consent }) => ({ id: consent }), foreign: 404 },
  'auth/second-factor/view': { input: () => ({}) },
  'auth/step-up/begin': { input: () => ({}) },
  'auth/step-up/options': { input: () => ({}) },
  'auth/step-up': { input: () => ({ code: '12345678' }) },
  'auth/totp/begin': { input: () => ({}) },
  'auth/totp/confirm': { input: () => ({ code: '123456' }) },
  'auth/totp/remove': { input: () => ({}) },
  'auth/recovery-codes/create': { input: () => ({}) },
  'auth/passkey/list': { input: () => ({}) },
  'auth/passkey/add-options': { input: () => ({}) },
  'auth/passkey/add': { input: () => ({ name: 'k', attestation: NO_PASSKEY }) },
  'auth/passkey/edit': { input: ({ passkey }) => ({ id: passkey, name: 'mine now' }), foreign: 404 },
  'auth/passkey/remove': { input: ({ passkey }) => ({ id: passkey }), foreign: 404 },
  'user/profile': { input: () => ({}) },
  'user/add-password': { input: () => ({ password: 'Another-horse-8' }) },
  'auth/email/change-password': {
    input: () => ({ currentPassword: 'Correct-horse-7', newPassword: 'Another-horse-8' }),
  },
  'auth/email/change-email': { input: () => ({ newEmail: 'elsewhere@example.com' }) },
  'auth/email/confirm-new-email': { input: () => ({ code: '12345678' }) },
  'user/deletion': { input: () => ({}) },
  'user/delete': { input: () => ({ email: 'somebody-else@example.com' }) },
  'user/add-full-name': { input: () => ({ name: 'mine now' }) },
  'user/signup-form': { input: () => ({ name: 'mine now', phone: '+44 20 7946 0000' }) },
  'user/edit': { input: () => ({ theme: 'dark' }) },
  'billing/balance': { input: () => ({}) },
  'hardware/offer/list': { input: () => ({}) },
  'ssh-key/list': { input: () => ({}) },
  'ssh-key/add': { input: () => ({ title: 'k', publicKey: 'ssh-ed25519 AAAA' }) },
  'ssh-key/generate': { input: () => ({ title: 'generated' }) },
  'ssh-key/delete': { input: ({ sshKey }) => ({ id: sshKey }), foreign: 404 },
  'instance-rented/list': { input: () => ({}) },
  'instance-rented/view': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/rent': { input: ({ sshKey }) => ({ offerId: 'x', title: 't', slug: 'walk', sshKeyId: sshKey }) },
  'instance-rented/edit': { input: ({ instance }) => ({ id: instance, title: 'mine now' }), foreign: 404 },
  'instance-rented/start': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/stop': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/reboot': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/terminate': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/activity/list': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/ssh-key/list': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/ssh-key/add': {
    input: ({ instance, sshKey }) => ({ id: instance, sshKeyId: sshKey }),
    foreign: 404,
  },
  'instance-rented/ssh-key/remove': {
    input: ({ instance, sshKey }) => ({ id: instance, sshKeyId: sshKey }),
    foreign: 404,
  },
  'self-hosted-instance/list': { input: () => ({}) },
  'self-hosted-instance/view': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/create': { input: () => ({ title: 't', slug: 'walk-own' }) },
  'self-hosted-instance/reissue-token': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/edit': { input: ({ own }) => ({ id: own, title: 'mine now' }), foreign: 404 },
  'self-hosted-instance/delete': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/activity/list': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'docker-container/list': { input: ({ instance }) => ({ instanceRef: { id: instance } }), foreign: 404 },
  'docker-container/view': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/create': {
    input: ({ instance }) => ({
      instanceRef: { id: instance },
      title: 't',
      slug: 'walk-container',
      dockerImage: 'busybox',
      cpus: 1,
    }),
    foreign: 404,
  },
  'docker-container/start': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/stop': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/restart': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/delete': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/image/list': { input: ({ instance }) => ({ instanceRef: { id: instance } }), foreign: 404 },
  'client/audit/list': { input: () => ({}) },
  'client/audit/export': { input: () => ({}) },
  'client/audit/verify': { input: () => ({}) },
  'admin/stray/list': { input: () => ({}) },
  'admin/stray/adopt': {
    input: ({ stray }) => ({ id: stray, workspaceId: 1, offerId: 'x:y', title: 't', slug: 'walk-stray' }),
  },
  'admin/stray/delete': { input: ({ stray }) => ({ id: stray }) },
  'user-feedback/send/default': {
    input: () => ({ topic: 'Ask a question', subject: 's', description: 'd', imageUploads: [] }),
  },
  'logging/query': {
    input: ({ container }) => ({ source: { type: 'docker-container', id: container } }),
    foreign: 404,
  },
};

const ABSENT: Ids = {
  instance: 999_999_901,
  own: 999_999_902,
  container: 999_999_903,
  sshKey: 999_999_904,
  stray: 999_999_905,
  session: '00000000-0000-4000-8000-000000000000',
  apiToken: 999_999_906,
  consent: '00000000-0000-4000-8000-000000000001',
  member: 999_999_907,
  passkey: 999_999_906,
};

/** What a denied call must not change. */
const WATCHED = [
  'session',
  'api_token',
  'external_identity',
  'provider_trip',
  'oauth_code',
  'app_user',
  'workspace',
  'membership',
  'ssh_key',
  'instance',
  'instance_ssh_key',
  'instance_activity',
  'container',
  'daemon_command',
  'provider_op',
  'stray',
  'journal',
  'feedback',
  'email_change',
  'user_picture',
  'totp',
  'passkey',
  'recovery_code',
];

describe('the walk over every call', () => {
  let app: TestApp;
  let alice: Person;
  let guest: Person;
  let mallory: Person;
  let ids: Ids;
  let cells = 0;

  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp('Alice Canary');
    guest = await app.signUp('Gus');
    mallory = await app.signUp('Mallory');
    const instance = await aRentedInstance(app.ctx, alice);
    ids = {
      instance,
      own: await anOwnServer(app.ctx, alice),
      container: await aContainer(app.ctx, alice, instance),
      sshKey: await anSshKey(app.ctx, alice),
      stray: await aStray(app.ctx),
      session: await sessionOf(app, alice),
      apiToken: (await anApiToken(app.ctx, alice)).id,
      consent: await aConsent(app.ctx, alice),
      member: guest.userId,
      passkey: await aPasskey(app.ctx, alice),
    };
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: alice.workspaceId, user_id: guest.userId, role: 'Guest' })
      .execute();
    // Everybody has shown that it is them, so that what else is asked of them is seen.
    await stepUpAll(sql<Date>`now()`);
  });
  afterAll(async () => {
    console.log(`walk: n = ${cells} cells over ${everyCall().length} calls`);
    await app?.close();
  });

  const guarded = everyCall().filter((call) => call.auth !== 'public');

  const byToken = guarded.filter((call) => call.byToken);

  it('has a sample for every guarded call and none for others', () => {
    expect(Object.keys(SAMPLES).toSorted()).toEqual(guarded.map((call) => call.path).toSorted());
  });

  it('answers 401 without a session, with a made-up token and with another kind of token', async () => {
    const before = await fingerprint(app);
    for (const call of guarded) {
      const madeUp = writeApiToken({ id: ids.apiToken, secret: newSecret() });
      for (const authorization of [
        undefined,
        'Bearer abc',
        `Bearer ${alice.tokens().refreshToken}`,
        `Bearer ${madeUp}`,
      ]) {
        const reply = await send(call, SAMPLES[call.path]!.input(ids), authorization, alice.workspaceId);
        expect.soft(reply.status, `${call.path} with ${authorization ?? 'nothing'}`).toBe(401);
        noCanary(reply, call);
        cells += 1;
      }
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers 403 to a member without the permission', async () => {
    const before = await fingerprint(app);
    for (const call of guarded.filter((call) => Array.isArray(call.auth))) {
      const reply = await send(call, SAMPLES[call.path]!.input(ids), bearer(guest), alice.workspaceId);
      expect.soft(reply.status, call.path).toBe(403);
      noCanary(reply, call);
      cells += 1;
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers 404 naming X-Client-ID for somebody else’s workspace, an absent one and none', async () => {
    const before = await fingerprint(app);
    for (const call of guarded.filter((call) => call.auth !== 'signed-in')) {
      const replies = await Promise.all(
        [alice.workspaceId, 999_999_999, null, 'x'].map((workspace) =>
          send(call, SAMPLES[call.path]!.input(ids), bearer(mallory), workspace),
        ),
      );
      for (const reply of replies) {
        expect.soft(reply.status, call.path).toBe(404);
        expect.soft(reply.body, call.path).toMatchObject({ fieldsWithError: ['X-Client-ID'] });
        noCanary(reply, call);
        cells += 1;
      }
      expect.soft(new Set(replies.map(comparable)).size, call.path).toBe(1);
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers the same for somebody else’s thing and for an absent one', async () => {
    const before = await fingerprint(app);
    for (const call of guarded) {
      const sample = SAMPLES[call.path]!;
      if (!sample.foreign) continue;
      const foreign = await send(call, sample.input(ids), bearer(mallory), mallory.workspaceId);
      const absent = await send(call, sample.input(ABSENT), bearer(mallory), mallory.workspaceId);
      expect.soft(foreign.status, call.path).toBe(sample.foreign);
      expect.soft(comparable(foreign), call.path).toBe(comparable(absent));
      noCanary(foreign, call);
      cells += 2;
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers 403 to the owner of a workspace on what only staff may', async () => {
    const before = await fingerprint(app);
    for (const call of guarded.filter(isStaffs)) {
      const reply = await send(call, SAMPLES[call.path]!.input(ids), bearer(alice), alice.workspaceId);
      expect.soft(reply.status, call.path).toBe(403);
      noCanary(reply, call);
      cells += 1;
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers 403 to an API token on every call that is not marked for one', async () => {
    const { token } = await anApiToken(app.ctx, alice);
    await cliCheck(token);
    const before = await fingerprint(app);
    for (const call of guarded.filter(({ byToken }) => !byToken)) {
      const reply = await send(call, SAMPLES[call.path]!.input(ids), `Bearer ${token}`, alice.workspaceId);
      expect.soft(reply.status, call.path).toBe(403);
      expect.soft(reply.body, call.path).toMatchObject({ message: 'This cannot be done with an API token' });
      noCanary(reply, call);
      cells += 1;
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers 403 to an API token without the permission, though its owner holds it', async () => {
    const { token } = await anApiToken(app.ctx, alice, { permissions: ['BASIC_ACTIONS'] });
    await cliCheck(token);
    const before = await fingerprint(app);
    for (const call of byToken.filter((call) => Array.isArray(call.auth))) {
      const reply = await send(call, SAMPLES[call.path]!.input(ids), `Bearer ${token}`, alice.workspaceId);
      expect.soft(reply.status, call.path).toBe(403);
      noCanary(reply, call);
      cells += 1;
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('answers 404 to an API token in any workspace but its own, 401 once it has ended', async () => {
    const [elsewhere, archived, expired] = [
      await anApiToken(app.ctx, alice),
      await anApiToken(app.ctx, alice),
      await anApiToken(app.ctx, alice, { expiresAt: new Date(Date.now() - 60_000) }),
    ];
    await alice.client(api.apiTokens.archive, { id: archived.id });
    await cliCheck(elsewhere.token);
    const before = await fingerprint(app);
    for (const call of byToken) {
      const input = SAMPLES[call.path]!.input(ids);
      if (call.auth !== 'signed-in') {
        const reply = await send(call, input, `Bearer ${elsewhere.token}`, mallory.workspaceId);
        expect.soft(reply.status, call.path).toBe(404);
        expect.soft(reply.body, call.path).toMatchObject({ fieldsWithError: ['X-Client-ID'] });
        cells += 1;
      }
      for (const { token } of [archived, expired]) {
        const reply = await send(call, input, `Bearer ${token}`, alice.workspaceId);
        expect.soft(reply.status, call.path).toBe(401);
        noCanary(reply, call);
        cells += 1;
      }
    }
    expect(await fingerprint(app)).toBe(before);
  });

  it('lets an API token make every call that is marked for one, where it finds what its owner would', async () => {
    const { token } = await anApiToken(app.ctx, alice);
    for (const call of byToken) {
      const reply = await send(call, SAMPLES[call.path]!.input(ABSENT), `Bearer ${token}`, null);
      expect.soft([401, 403, 500], `${call.path}: ${JSON.stringify(reply.body)}`).not.toContain(reply.status);
      if (SAMPLES[call.path]!.foreign) expect.soft(reply.status, call.path).toBe(SAMPLES[call.path]!.foreign);
      cells += 1;
    }
  });

  it('answers 403 with its own code to whoever has not shown lately that it is them', async () => {
    await stepUpAll(sql<Date>`now() - interval '10 minutes 1 second'`);
    const before = await fingerprint(app);
    const asking = guarded.filter(({ stepUp }) => stepUp);
    for (const call of asking) {
      const reply = await send(call, SAMPLES[call.path]!.input(ids), bearer(alice), alice.workspaceId);
      expect.soft(reply, call.path).toMatchObject({ status: 403, body: { code: 'step-up' } });
      cells += 1;
    }
    expect(asking.length).toBeGreaterThan(0);
    expect(await fingerprint(app)).toBe(before);
    await stepUpAll(sql<Date>`now()`);
  });

  it('asks for an Idempotency-Key where something is made', async () => {
    for (const call of guarded.filter((call) => needsIdempotencyKey(call.path))) {
      const reply = await app.post(call.path, SAMPLES[call.path]!.input(ids), {
        authorization: bearer(alice),
        'x-client-id': String(alice.workspaceId),
      });
      expect.soft(reply.status, call.path).toBe(400);
      expect.soft(reply.body, call.path).toMatchObject({ fieldsWithError: ['Idempotency-Key'] });
      cells += 1;
    }
  });

  it('leaks nothing of one workspace into the lists of another', async () => {
    const lists = guarded.filter(
      (call) => call.path.endsWith('/list') && !SAMPLES[call.path]!.foreign && !isStaffs(call),
    );
    for (const call of lists) {
      const reply = await send(call, SAMPLES[call.path]!.input(ids), bearer(mallory), mallory.workspaceId);
      expect.soft(reply.status, call.path).toBe(200);
      noCanary(reply, call);
      cells += 1;
    }
    expect(cells).toBeGreaterThan(0);
  });

  /** Its first use is noted: what comes then changes nothing. */
  async function cliCheck(token: string): Promise<void> {
    const reply = await app.post(
      api.apiTokens.cliCheck.path,
      { clientVersion: '1.0.0' },
      { authorization: `Bearer ${token}` },
    );
    expect(reply.status).toBe(200);
  }

  async function stepUpAll(at: RawBuilder<Date>): Promise<void> {
    await app.ctx.db.updateTable('session').set({ stepped_up_at: at }).execute();
  }

  function send(
    call: Call,
    input: unknown,
    authorization: string | undefined,
    workspace: number | string | null,
  ): Promise<Reply> {
    const headers: Record<string, string> = { 'idempotency-key': crypto.randomUUID() };
    if (authorization) headers.authorization = authorization;
    if (workspace !== null) headers['x-client-id'] = String(workspace);
    return app.post(call.path, input, headers);
  }
});

/** EMPLOYEE is a flag of a person: no role of a workspace grants it. */
const isStaffs = ({ auth }: Call): boolean => Array.isArray(auth) && auth.includes('EMPLOYEE');

const bearer = (person: Person): string => `Bearer ${person.tokens().accessToken}`;

function comparable({ status, body }: Reply): string {
  return JSON.stringify({ status, body: { ...(body as object), requestId: '' } });
}

function noCanary(reply: Reply, call: Call): void {
  expect.soft(JSON.stringify(reply.body), call.path).not.toMatch(/Canary|server-\d|own-\d|container-\d/);
}

async function sessionOf(app: TestApp, person: Person): Promise<string> {
  const { id } = await app.ctx.db
    .selectFrom('session')
    .select('id')
    .where('user_id', '=', person.userId)
    .executeTakeFirstOrThrow();
  return id;
}

async function fingerprint(app: TestApp): Promise<string> {
  const hash = createHash('sha256');
  for (const table of WATCHED) {
    const { rows } = await sql<{
      all: string | null;
    }>`select string_agg(t::text, '|' order by t::text) as all from ${sql.table(table)} t`.execute(app.ctx.db);
    hash.update(`${table}:${rows[0]?.all ?? ''}`);
  }
  return hash.digest('hex');
}
