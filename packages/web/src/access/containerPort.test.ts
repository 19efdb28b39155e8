import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { portOfReturn } from './containerPort.ts';

beforeAll(() => {
  vi.stubGlobal('window', { location: { origin: 'https://app.example' } });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

const page = (slug: string, address: string) =>
  `/container-auth/${slug}?${new URLSearchParams({ returnUrl: address })}`;

const TABLE: [returnUrl: string | null, named: string | null][] = [
  [page('web', 'https://web-8080.apps.example/'), 'web 8080'],
  [page('web', 'https://web-8080.apps.example/lab?token=x#y'), 'web 8080'],
  [page('my-web-2', 'http://my-web-2-8888.apps.localhost:4400/'), 'my-web-2 8888'],
  [page('web-8080', 'https://web-8080-9000.apps.example/'), 'web-8080 9000'],
  [`https://app.example${page('web', 'https://web-8080.apps.example/')}`, 'web 8080'],
  [page('web', 'https://other-8080.apps.example/'), null],
  [page('web', 'https://web-80.apps.example/'), null],
  [page('web', 'https://web-08080.apps.example/'), null],
  [page('Call 555 now', 'https://web-8080.apps.example/'), null],
  [page('a'.repeat(41), `https://${'a'.repeat(41)}-8080.apps.example/`), null],
  [`https://evil.example${page('web', 'https://web-8080.apps.example/')}`, null],
  [page('web', 'no address'), null],
  ['/container-auth/web', null],
  ['/cloud/containers/1?returnUrl=https://web-8080.apps.example/', null],
  ['//', null],
  ['', null],
  [null, null],
];

it('names the container and port that somebody signs in for, and nothing else', () => {
  for (const [returnUrl, named] of TABLE) {
    const port = portOfReturn(returnUrl);
    expect({ returnUrl, named: port && `${port.slug} ${port.port}` }).toEqual({ returnUrl, named });
  }
  console.log(`what somebody signs in for: n = ${TABLE.length}`);
});
