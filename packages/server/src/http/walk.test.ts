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
import { ABSENT, type Ids, SAMPLES } from './samples.ts';

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
