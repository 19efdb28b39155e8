import { type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startTestApp } from '../testing/app.ts';

interface Answer {
  status: number;
  body: string;
  headers: NodeJS.Dict<string | string[]>;
}

function ask(
  port: number,
  host: string | string[],
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asked: RequestOptions = {
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { host, ...headers } as OutgoingHttpHeaders,
    agent: false,
  };
  request(asked, (answer) => {
    text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }), reject);
  })
    .once('error', reject)
    .end();
  return promise;
}

describe('a host of the platform', () => {
  it('is each name of loopback, where the origin is one, and what the operator allows', async () => {
    const app = await startTestApp({ ALLOWED_HOSTS: 'stagi.internal, [2001:db8::7]' });
    const { port } = app.ctx.config;
    try {
      const names = ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', 'stagi.internal', '[2001:db8::7]'];
      for (const name of names)
        for (const host of [name, `${name}:${port}`, `${name}:1`])
          expect([host, (await ask(port, host, '/openapi.json')).status]).toEqual([host, 200]);
      const content = await ask(port, new URL(app.ctx.config.contentOrigin).host, '/');
      expect(content).toMatchObject({ status: 404, body: 'There is nothing at this address.\n' });
      expect((await ask(port, `x-8080.apps.localhost:${port}`, '/')).status).toBe(401);
      for (const [host, status] of [
        ['localhost', 200],
        ['127.0.0.1', 200],
        ['stagi.internal', 421],
      ] as const)
        expect([host, (await ask(port, host, '/dev/mail')).status]).toEqual([host, status]);
    } finally {
      await app.close();
    }
  });

  it('is none of loopback, where the origin is another', async () => {
    const app = await startTestApp({
      APP_ORIGIN: 'https://stagi.example',
      CONTENT_ORIGIN: 'https://content.example',
      S3_ORIGIN: 'https://s3.example',
      DAEMON_ORIGIN: 'https://agents.example',
      APPS_DOMAIN: 'apps.example',
      DEV_MAIL: 'on public',
      ALLOWED_HOSTS: '',
    });
    const { port, s3Port } = app.ctx.config;
    try {
      for (const [host, path, status] of [
        ['stagi.example', '/openapi.json', 200],
        ['agents.example', '/openapi.json', 200],
        ['content.example', '/', 404],
        ['x-8080.apps.example', '/', 401],
        ['s3.example', '/openapi.json', 421],
        ['localhost', '/openapi.json', 421],
        ['127.0.0.1', '/openapi.json', 421],
        ['other.stagi.example', '/openapi.json', 421],
        ['stagi.example', '/dev/mail', 421],
        ['127.0.0.1', '/healthz', 200],
      ] as const)
        expect([host, path, (await ask(port, host, path)).status]).toEqual([host, path, status]);
      for (const [host, status] of [
        ['s3.example', 403],
        ['bucket.s3.example', 403],
        ['agents.example', 403],
        ['stagi.example', 421],
        ['localhost', 421],
      ] as const)
        expect([host, (await ask(s3Port, host, '/bucket/key')).status]).toEqual([host, status]);
    } finally {
      await app.close();
    }
  });

  it('is what a trusted proxy was asked for, to the check and to what follows', async () => {
    const app = await startTestApp({ TRUST_PROXY: '127.0.0.1', ALLOWED_HOSTS: 'upstream' });
    const { port, contentOrigin } = app.ctx.config;
    const via = (host: string, forwarded: string, path = '/openapi.json') =>
      ask(port, host, path, { headers: { 'x-forwarded-host': forwarded } });
    try {
      expect((await via('upstream', `localhost:${port}`)).status).toBe(200);
      expect((await via('localhost', 'evil.example')).status).toBe(421);
      expect((await via('localhost', 'localhost, evil.example')).status).toBe(421);
      expect((await via('localhost', 'evil.example, localhost')).status).toBe(200);
      expect((await via('localhost', 'evil.example', '/dev/mail')).status).toBe(421);
      // A path that the platform's router cannot read belongs to the container.
      const ofPort = await via(`localhost:${port}`, `x-8080.apps.localhost:${port}`, '/%E0%A4%A');
      expect(ofPort.status).toBe(401);
      expect(await via('localhost', new URL(contentOrigin).host)).toMatchObject({
        status: 404,
        body: 'There is nothing at this address.\n',
      });
    } finally {
      await app.close();
    }
  });
});
