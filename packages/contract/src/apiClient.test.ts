import { describe, expect, it } from 'vitest';
import { api } from './api.ts';
import type { CallOptions } from './apiClient.ts';
import { createClient, type Reply, type Tokens } from './apiClient.ts';
import { CallError, fieldErrors } from './errors.ts';

const PROFILE = {
  isSuccess: true,
  userProfile: {
    userId: 1,
    email: 'a@example.com',
    name: 'A',
    image: null,
    language: null,
    theme: 'system',
    isPasswordExist: true,
    isSignupFormSubmitted: false,
    isGettingStarted: true,
    hasTestModePrivileges: false,
    clientRelations: [],
  },
};

/** A client over a server that is a function, with everything it told its surroundings. */
function setUp(
  server: (path: string, headers: Record<string, string>) => Reply | Promise<Reply>,
  { showsItIsThem = true } = {},
) {
  let tokens: Tokens | null = { accessToken: 'old', refreshToken: 'r1' };
  const told: string[] = [];
  const sent: { path: string; headers: Record<string, string> }[] = [];
  const client = createClient({
    send: async (path, _body, { headers }) => {
      sent.push({ path, headers });
      return server(path, headers);
    },
    session: { get: () => tokens, set: (next) => (tokens = next) },
    clientId: () => 7,
    on: {
      signedOut: () => {
        told.push('signedOut');
        tokens = null;
      },
      forbidden: () => told.push('forbidden'),
      notFound: () => told.push('notFound'),
      stepUp: async () => {
        told.push('stepUp');
        return showsItIsThem;
      },
      workspaceGone: (quiet) => told.push(quiet ? 'workspaceGone, in the background' : 'workspaceGone'),
      message: (text, _body, retryAfter) => told.push(`message: ${text}${retryAfter ? ` (${retryAfter} s)` : ''}`),
    },
  });
  return { client, told, sent, paths: () => sent.map((request) => request.path) };
}

const caught = (work: Promise<unknown>): Promise<CallError> =>
  work.then(
    () => expect.unreachable('should have failed'),
    (error: unknown) => error as CallError,
  );
const refusal = (status: number, body: object = {}): Reply => ({
  status,
  body: { isSuccess: false, message: 'No', ...body },
});

describe('the typed client', () => {
  it('asks for step-up authentication and retries the call with the same idempotency key', async () => {
    const asks = refusal(403, { code: 'step-up' });
    let steppedUp = false;
    const { client, told, sent } = setUp(() => {
      const reply = steppedUp ? { status: 200, body: PROFILE } : asks;
      steppedUp = true;
      return reply;
    });
    await client(api.user.profile, {}, { idempotencyKey: 'k' });
    expect(told).toEqual(['stepUp']);
    expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k']);

    const again = setUp(() => asks);
    expect((await caught(again.client(api.user.profile, {}))).status).toBe(403);
    expect([again.told, again.sent.length]).toEqual([['stepUp'], 2]);

    const unwilling = setUp(() => asks, { showsItIsThem: false });
    expect((await caught(unwilling.client(api.user.profile, {}))).body?.code).toBe('step-up');
    expect([unwilling.told, unwilling.sent.length]).toEqual([['stepUp'], 1]);

    const quiet = setUp(() => asks);
    await caught(quiet.client(api.user.profile, {}, { quiet: true }));
    expect([quiet.told, quiet.sent.length]).toEqual([[], 1]);
  });

  it('sends token, workspace and an idempotency key where one is needed', async () => {
    const { client, sent } = setUp(() => refusal(400));
    await caught(client(api.sshKeys.add, { title: 't', publicKey: 'k' }));
    await caught(client(api.sshKeys.list, {}));
    expect(sent[0]?.headers).toMatchObject({ authorization: 'Bearer old', 'x-client-id': '7' });
    expect(sent[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[1]?.headers['idempotency-key']).toBeUndefined();
  });

  it('refreshes once for concurrent 401s and retries them all', async () => {
    const { client, paths, told } = setUp((path, headers) => {
      if (path === 'auth/exchange-refresh-token')
        return { status: 200, body: { isSuccess: true, accessToken: 'new', refreshToken: 'r2' } };
      return headers.authorization === 'Bearer new' ? { status: 200, body: PROFILE } : refusal(401);
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => client(api.user.profile, {})));
    expect(answers).toHaveLength(5);
    expect(paths().filter((path) => path === 'auth/exchange-refresh-token')).toHaveLength(1);
    expect(told).toEqual([]);
  });

  it('does not refresh again for a call that was sent before a refresh and got its 401 after it', async () => {
    let release: (reply: Reply) => void = () => {};
    let first = true;
    const { client, paths } = setUp((path, headers) => {
      if (path === 'auth/exchange-refresh-token')
        return { status: 200, body: { isSuccess: true, accessToken: 'new', refreshToken: 'r2' } };
      if (headers.authorization === 'Bearer new') return { status: 200, body: PROFILE };
      if (!first) return refusal(401);
      first = false;
      return new Promise<Reply>((resolve) => (release = resolve));
    });
    const slow = client(api.user.profile, {});
    await client(api.user.profile, {});
    release(refusal(401));
    await slow;
    expect(paths().filter((path) => path === 'auth/exchange-refresh-token')).toHaveLength(1);
  });

  it('signs out when the refresh is refused, and when logout answers 401', async () => {
    const { client, told } = setUp(() => refusal(401));
    expect((await caught(client(api.user.profile, {}))).status).toBe(401);
    expect(told).toContain('signedOut');
    const other = setUp(() => refusal(401));
    await caught(other.client(api.auth.logout, { refreshToken: 'r1' }));
    expect(other.told).toEqual(['signedOut']);
  });

  it.each([
    [0, 'The server cannot be reached'],
    [429, 'No (7 s)'],
    [500, 'Something goes wrong. Try again!'],
    [503, 'No (7 s)'],
  ])('keeps the session when the refresh meets %i, and says so', async (status, message) => {
    const server = (path: string): Reply => {
      if (path !== 'auth/exchange-refresh-token') return refusal(401);
      if (status === 0) throw new TypeError('Failed to fetch');
      return { ...refusal(status), retryAfter: 7 };
    };
    const { client, told } = setUp(server);
    expect((await caught(client(api.user.profile, {}))).status).toBe(status);
    const quiet = setUp(server);
    expect((await caught(quiet.client(api.user.profile, {}, { quiet: true }))).status).toBe(status);
    expect([told, quiet.told]).toEqual([[`message: ${message}`], []]);
  });

  it('neither refreshes nor signs out when a call without a session is refused with 401', async () => {
    const { client, told, paths } = setUp(() => refusal(401));
    await caught(client(api.auth.authentication, { email: 'a@example.com', password: 'x' }));
    expect([paths(), told]).toEqual([['auth/email/authentication'], []]);
  });

  const GENERIC = 'message: Something goes wrong. Try again!';
  const none = { status: 200, body: null };
  const TABLE: [string, Reply, string[], CallOptions?][] = [
    ['2xx with isSuccess false: its message', refusal(200), ['message: No']],
    ['the same where the caller overrides it', refusal(200), [], { handlesMessages: true }],
    ['2xx that this version does not know', none, [GENERIC]],
    ['the same where the caller overrides it', none, [], { handlesMessages: true }],
    ['400: the caller’s business', refusal(400, { fieldsWithError: ['email'] }), []],
    ['403', refusal(403), ['forbidden']],
    ['404', refusal(404), ['notFound']],
    ['404 that names another field', refusal(404, { fieldsWithError: ['id'] }), ['notFound']],
    ['409', refusal(409), ['message: No']],
    ['422', refusal(422), ['message: No']],
    ['429 with the wait', { ...refusal(429), retryAfter: 30 }, ['message: No (30 s)']],
    ['429 of a proxy', { status: 429, body: null, retryAfter: 5 }, ['message: Too many requests at once (5 s)']],
    ['500', refusal(500), [GENERIC]],
    ['500 with body status 499', refusal(500, { status: 499 }), []],
    ['502 of a proxy', { status: 502, body: null }, ['message: The service is temporarily unavailable']],
    ['503 with the wait', { ...refusal(503), retryAfter: 2 }, ['message: No (2 s)']],
    ['another error without words', { status: 418, body: 'tea' }, [GENERIC]],
  ];

  it.each(TABLE)('%s', async (_name, reply, expected, options) => {
    const loud = setUp(() => reply);
    const quiet = setUp(() => reply);
    expect((await caught(loud.client(api.user.profile, {}, options))).status).toBe(reply.status);
    expect((await caught(quiet.client(api.user.profile, {}, { ...options, quiet: true }))).status).toBe(reply.status);
    expect([loud.told, quiet.told]).toEqual([expected, []]);
  });

  it('tells that the workspace is gone also after a call in the background', async () => {
    const { client, told } = setUp(() => refusal(404, { fieldsWithError: ['X-Client-ID'] }));
    for (const quiet of [false, true]) expect((await caught(client(api.user.profile, {}, { quiet }))).status).toBe(404);
    expect(told).toEqual(['workspaceGone', 'workspaceGone, in the background']);
  });

  it('reports nothing for an aborted call', async () => {
    const controller = new AbortController();
    const { client, told } = setUp(() => {
      controller.abort();
      throw new DOMException('aborted', 'AbortError');
    });
    expect((await caught(client(api.user.profile, {}, { signal: controller.signal }))).status).toBe(499);
    expect(told).toEqual([]);
  });
});

describe('fieldErrors', () => {
  it('puts the message under each listed field, or each field’s own message', () => {
    const body = { isSuccess: false as const, message: 'Wrong' };
    expect(fieldErrors(new CallError(400, { ...body, fieldsWithError: ['a', 'b'] }, null))).toEqual({
      a: 'Wrong',
      b: 'Wrong',
    });
    expect(fieldErrors(new CallError(400, { ...body, fieldMessages: { a: 'x' } }, null))).toEqual({ a: 'x' });
    expect(fieldErrors(new Error('network'))).toEqual({});
  });
});
