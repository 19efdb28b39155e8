import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

const describe = (headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(`${app.url}/openapi.json`, { method, headers });

it('is told with a tag, and not again to who has it', async () => {
  const first = await describe();
  const text = await first.text();
  const etag = first.headers.get('etag')!;
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(JSON.parse(text)).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag},"more"`, '*']) {
    const again = await describe({ 'if-none-match': tags });
    expect([tags, again.status, again.headers.get('etag'), await again.text()]).toEqual([tags, 304, etag, '']);
  }
  for (const tags of ['"other"', etag.slice(1, -1), `${etag}x`, '']) {
    const again = await describe({ 'if-none-match': tags });
    expect([tags, again.status, await again.text()]).toEqual([tags, 200, text]);
  }
  const head = await describe({}, 'HEAD');
  expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
});
