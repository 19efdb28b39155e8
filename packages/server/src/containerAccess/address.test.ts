import { describe, expect, it } from 'vitest';
import { type AppsDomain, readAppsDomain } from '../config/appsDomain.ts';
import { targetOfHost, targetOfUrl } from './address.ts';

const HTTPS: AppsDomain = { protocol: 'https:', host: 'apps.example' };
const LOCAL: AppsDomain = { protocol: 'http:', host: 'apps.localhost:4400' };

describe('the address of a port', () => {
  it('is known by its parsed host, and keeps where one wanted to go', () => {
    const path = (address: string, domain = HTTPS) => targetOfUrl(address, 'web', domain)?.path;
    expect(targetOfUrl('https://web-8080.apps.example/a/b?c=d#e', 'web', HTTPS)).toEqual({
      place: { slug: 'web', port: 8080 },
      path: '/a/b?c=d#e',
    });
    expect(path('https://web-8080.apps.example')).toBe('/');
    expect(path('HTTPS://WEB-8080.Apps.Example:443/')).toBe('/');
    expect(path('https://web-8080.apps.example/?next=https://evil.example')).toBe('/?next=https://evil.example');
    // The host it is put behind is ours: two slashes lead nowhere else.
    expect(path('https://web-8080.apps.example//evil.example/x')).toBe('//evil.example/x');
    expect(path('http://web-8080.apps.localhost:4400/x', LOCAL)).toBe('/x');
    expect(targetOfUrl('https://a-b-9999.apps.example/', 'a-b', HTTPS)?.place).toEqual({ slug: 'a-b', port: 9999 });
    expect(targetOfUrl('https://a-1000-9999.apps.example/', 'a-1000', HTTPS)?.place.port).toBe(9999);
  });

  const HOSTILE = [
    'https://evil.example/',
    'https://web-8080.apps.example.evil.example/',
    'https://evil.example/web-8080.apps.example',
    'https://evil.example/?https://web-8080.apps.example/',
    'https://evil.example#https://web-8080.apps.example/',
    'https://evilweb-8080.apps.example/',
    'https://web-8080.apps.example@evil.example/',
    'https://web-8080.apps.example:x@evil.example/',
    'https://evil.example@web-8080.apps.example/',
    'https://user:pass@web-8080.apps.example/',
    'https://:pass@web-8080.apps.example/',
    'https://web-8080.apps.example\\@evil.example/',
    'https:\\\\web-8080.apps.example\\',
    'https://web-8080.apps.example\\.evil.example/',
    'https://evil.example\\web-8080.apps.example/',
    'https:/\\evil.example/',
    '//web-8080.apps.example/',
    '///evil.example/',
    '/web-8080.apps.example',
    'web-8080.apps.example',
    'https:web-8080.evil.example/',
    'javascript:alert(1)//web-8080.apps.example/',
    'javascript://web-8080.apps.example/%0aalert(1)',
    'data:text/html,web-8080.apps.example',
    'blob:https://web-8080.apps.example/0',
    'file://web-8080.apps.example/',
    'ftp://web-8080.apps.example/',
    'ws://web-8080.apps.example/',
    'http://web-8080.apps.example/',
    'https://web-8080.apps.example:8443/',
    'https://web-8080.apps.example:80/',
    'https://web-8080.apps.example./',
    'https://web-8080..apps.example/',
    'https://.web-8080.apps.example/',
    'https://a.web-8080.apps.example/',
    'https://web-8080.b.apps.example/',
    'https://web-8080-apps.example/',
    'https://web-8080xapps.example/',
    'https://apps.example/',
    'https://web.apps.example/',
    'https://web-.apps.example/',
    'https://web-80.apps.example/',
    'https://web-0999.apps.example/',
    'https://web-10000.apps.example/',
    'https://web-08080.apps.example/',
    'https://web-+808.apps.example/',
    'https://web-8e3.apps.example/',
    'https://web-0x1f90.apps.example/',
    'https://web-8080%2eapps.example/',
    'https://web-8080.apps.example%2f@evil.example/',
    'https://web-8080.apps.example%00.evil.example/',
    'https://web-8080.apps.example%09.evil.example/',
    'https://web-8080.apps.example\t.evil.example/',
    'https://web-8080.apps\n.example/',
    'https://web-8080.apps.example/\r\nset-cookie:a=b',
    ' https://web-8080.apps.example/',
    'https://web-8080.apps.example/ x',
    'https://web-8080.apps.example/\u0000',
    'https://web-8080.apps。example/',
    'https://web-８０８０.apps.example/',
    'https://ｗeb-8080.apps.example/',
    'https://web-8080.аpps.example/',
    'https://web-8080.apps.example／evil.example/',
    'https://web-8080.apps.exаmple/',
    'https://web\u00ad-8080.apps.example/',
    'https://other-8080.apps.example/',
    'https://web-web-8080.apps.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:web-8080.apps.example]/',
    'https://2130706433/',
    'https://xn--web-8080.apps.example/',
    'https://web--8080.apps.example/',
    'https://WEB_-8080.apps.example/',
    '',
    'https://',
    'https:///',
    `https://web-8080.apps.example/${'a'.repeat(2048)}`,
  ];

  it('is nobody else’s, whatever it looks like', () => {
    const passed = HOSTILE.filter((address) => targetOfUrl(address, 'web', HTTPS) !== null);
    console.log(`hostile addresses: n = ${HOSTILE.length}, let through: ${passed.length}`);
    expect(HOSTILE.length).toBeGreaterThanOrEqual(40);
    expect(passed).toEqual([]);
  });

  it('leads nowhere but to its own host, wherever a browser would take it', () => {
    for (const address of HOSTILE.filter((one) => URL.canParse(one))) {
      const found = targetOfUrl(address, 'web', HTTPS);
      expect(found === null || new URL(address).host === 'web-8080.apps.example', address).toBe(true);
    }
  });

  it('is read from a Host header in the same way', () => {
    expect(targetOfHost('web-8080.apps.example', HTTPS)).toEqual({ slug: 'web', port: 8080 });
    expect(targetOfHost('web-8080.apps.localhost:4400', LOCAL)).toEqual({ slug: 'web', port: 8080 });
    for (const host of [
      undefined,
      '',
      'apps.example',
      'stagi.example',
      'web-8080.apps.example:8443',
      'web-8080.apps.localhost',
      'web-8080.apps.example.evil.example',
      'web-8080.apps.example, evil.example',
      'a b-8080.apps.example',
      'a.b-8080.apps.example',
      `${'a'.repeat(41)}-8080.apps.example`,
      '-8080.apps.example',
    ])
      expect.soft(targetOfHost(host, HTTPS) ?? targetOfHost(host === undefined ? host : '', LOCAL), host).toBeNull();
  });
});

describe('the domain of ports', () => {
  it('is a domain with or without a port, of the scheme of the platform', () => {
    const read = (text: string, origin = 'https://stagi.example') => readAppsDomain(text, origin);
    for (const none of ['', 'off']) expect(read(none)).toBeNull();
    expect(read('stagi-apps.example')).toEqual({ protocol: 'https:', host: 'stagi-apps.example' });
    expect(read('Stagi-Apps.example:8443')).toEqual({ protocol: 'https:', host: 'stagi-apps.example:8443' });
    expect(read('stagi-apps.example:443')).toEqual({ protocol: 'https:', host: 'stagi-apps.example' });
    for (const local of ['apps.localhost:4400', '']) expect(read(local, 'http://localhost:4400')).toEqual(LOCAL);
    expect(read('', 'http://127.0.0.1')).toEqual({ protocol: 'http:', host: 'apps.localhost' });
    expect(read('off', 'http://localhost:4400')).toBeNull();
  });

  it('is none that shares cookies with the platform, and nothing that is no domain', () => {
    for (const text of [
      'stagi.example',
      'apps.stagi.example',
      'example',
      'https://apps.example',
      'apps.example/',
      '*.apps.example',
      'apps..example',
      '-apps.example',
      '127.0.0.1',
      'apps.example:0',
      'apps.example:123456',
      'apps.example:x',
      'user@apps.example',
    ])
      expect.soft(() => readAppsDomain(text, 'https://stagi.example'), text).toThrow('APPS_DOMAIN');
    expect(() => readAppsDomain('localhost', 'http://localhost:4400')).toThrow('APPS_DOMAIN');
  });
});
