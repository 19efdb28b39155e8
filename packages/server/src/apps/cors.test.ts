import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';

const ORIGIN = 'https://browser-app.example';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const ask = (path: string, init: RequestInit): Promise<Response> =>
  fetch(`${app.url}${path}`, { ...init, headers: { origin: ORIGIN, ...init.headers } });
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

it('allows CORS on the token endpoints, errors too, from any origin and without cookies', async () => {
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    const leave = await ask(path, { method: 'OPTIONS', headers: asked });
    expect(leave.status).toBe(204);
    expect(leave.headers.get('access-control-allow-origin')).toBe('*');
    expect(leave.headers.get('access-control-allow-methods')).toBe('POST');
    expect(leave.headers.get('access-control-allow-headers')).toBe('Content-Type');
    expect(leave.headers.get('access-control-allow-credentials')).toBeNull();

    for (const body of ['client_id=nobody&token=x&grant_type=refresh_token', '']) {
      const answer = await ask(path, { method: 'POST', headers: FORM, body });
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  }
  const metadata = await ask('/.well-known/oauth-authorization-server', { method: 'GET' });
  expect(metadata.status).toBe(200);
  expect(metadata.headers.get('access-control-allow-origin')).toBe('*');
});

it('allows CORS nowhere else', async () => {
  for (const path of ['/frontend-api/user/profile', '/frontend-api/auth/email/authentication', '/healthz', '/']) {
    for (const method of ['OPTIONS', 'POST', 'GET']) {
      const answer = await ask(path, { method });
      expect(answer.headers.get('access-control-allow-origin'), `${method} ${path}`).toBeNull();
    }
  }
});
