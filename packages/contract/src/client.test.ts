import { describe, expect, it } from 'vitest';
import { api } from './api.ts';
import { createClient, type Reply, type Tokens } from './client.ts';
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
    hasTestModePrivileges: false,
    clientRelations: [],
  },
};

/** A client over a server that is a function, with everything it told its surroundings. */
function setUp(server: (path: string, headers: Record<string, string>) => Reply | Promise<Reply>) {
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
      workspaceGone: () => told.push('workspaceGone'),
      message: (text) => told.push(`message: ${text}`),
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
  it('sends token, workspace and an idempotency key where one is needed', async () => {
    const { client, sent } = setUp(() => refusal(400));
    await caught(client(api.sshKeys.add, { title: 't', publicKey: 'k' }));
    await caught(client(api.sshKeys.list, {}));
    expect(sent[0]?.headers).toMatchObject({ authorization: 'Bearer old', 'x-client-id': '7' });
    expect(sent[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[1]?.headers['idempotency-key']).toBeUndefined();
  });

  it('refreshes once for concurrent 401s and replays them all', async () => {
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

  it('does not refresh again for a call that was sent before the refresh and refused after it', async () => {
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

  it('keeps the session when the refresh could not be answered', async () => {
    const { client, told } = setUp((path) => (path === 'auth/exchange-refresh-token' ? refusal(503) : refusal(401)));
    expect((await caught(client(api.user.profile, {}))).status).toBe(503);
    expect(told).not.toContain('signedOut');
  });

  it.each([
    [403, {}, ['forbidden']],
    [404, {}, ['notFound']],
    [404, { fieldsWithError: ['X-Client-ID'] }, ['workspaceGone']],
    [400, {}, []],
    [500, {}, ['message: Something goes wrong. Try again!']],
    [500, { status: 499 }, []],
    [409, {}, ['message: No']],
    [429, {}, ['message: No']],
    [200, {}, ['message: No']],
  ])('on %i with %j tells the surroundings %j', async (status, body, expected) => {
    const { client, told } = setUp(() => refusal(status, body));
    expect((await caught(client(api.user.profile, {}))).status).toBe(status);
    expect(told).toEqual(expected);
  });

  it('neither navigates nor toasts for a quiet call', async () => {
    for (const status of [200, 403, 404, 409, 429, 500, 503]) {
      const { client, told } = setUp(() => refusal(status));
      await caught(client(api.user.profile, {}, { quiet: true }));
      expect(told).toEqual([]);
    }
  });

  it('passes an abort on silently', async () => {
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
  it('puts the message under each listed field, or each field’s own', () => {
    const body = { isSuccess: false as const, message: 'Wrong' };
    expect(fieldErrors(new CallError(400, { ...body, fieldsWithError: ['a', 'b'] }, null))).toEqual({
      a: 'Wrong',
      b: 'Wrong',
    });
    expect(fieldErrors(new CallError(400, { ...body, fieldMessages: { a: 'x' } }, null))).toEqual({ a: 'x' });
    expect(fieldErrors(new Error('network'))).toEqual({});
  });
});
