import { everyCall } from '@stagi/contract/api.ts';
import { describe, expect, it } from 'vitest';
import { authorizationResponseUrl, isRegisteredRedirect, redirectProblem } from './appRedirects.ts';
import { permissionsOfApp, readApps } from './registeredApps.ts';

const entry = { clientId: 'dash', name: 'Dash', redirectUris: ['https://dash.example/cb'], permissions: ['BILLING'] };
const read = (...entries: object[]) => readApps(JSON.stringify(entries));

describe('the apps of the operator', () => {
  it('are the platform’s command line and those in OAUTH_APPS', () => {
    expect([...readApps(undefined).keys()]).toEqual(['stagi-cli']);
    expect(read(entry).get('dash')).toMatchObject({ name: 'Dash', isFirstParty: false, permissions: ['BILLING'] });
    expect(read({ ...entry, firstParty: true, permissions: undefined }).get('dash')).toMatchObject({
      isFirstParty: true,
      permissions: null,
    });
  });

  it('fail the start when they are invalid', () => {
    const wrong: [object[] | string, RegExp][] = [
      ['no json', /OAUTH_APPS must be a JSON list/],
      ['{}', /OAUTH_APPS cannot be used/],
      [[{ ...entry, clientId: 'stagi-cli' }], /platform's own/],
      [[entry, entry], /"dash" twice/],
      [[{ ...entry, permissions: undefined }], /permissions of "dash"/],
      [[{ ...entry, permissions: [] }], /permissions/],
      [[{ ...entry, permissions: ['EMPLOYEE'] }], /permissions/],
      [[{ ...entry, permissions: ['CLIENT_SUPERADMIN'] }], /permissions/],
      [[{ ...entry, redirectUris: [] }], /redirectUris/],
      [[{ ...entry, redirectUris: ['http://dash.example/cb'] }], /must be https/],
      [[{ ...entry, secretSha256: 'x' }], /SHA-256/],
      [[{ ...entry, secret: 'x' }], /secret/],
      [[{ ...entry, name: ' ' }], /name/],
      [[{ ...entry, clientId: 'a b' }], /clientId/],
    ];
    for (const [given, message] of wrong)
      expect(() => readApps(typeof given === 'string' ? given : JSON.stringify(given))).toThrow(message);
  });

  it('have the permissions of their user, limited to those consented to and registered', () => {
    const app = read({ ...entry, permissions: ['BILLING', 'BASIC_ACTIONS'] }).get('dash')!;
    expect(permissionsOfApp(app, ['BILLING', 'PROJECT'], ['BILLING', 'PROJECT', 'BASIC_ACTIONS'])).toEqual(['BILLING']);
    const own = readApps(undefined).get('stagi-cli')!;
    expect(permissionsOfApp(own, null, ['BILLING', 'EMPLOYEE', 'CLIENT_SUPERADMIN', 'INVITE_USERS_TO_CLIENT'])).toEqual(
      ['BILLING'],
    );
  });
});

it('an app may make the calls of API tokens, and read its user’s profile', () => {
  expect(everyCall().flatMap(({ path, byApp }) => (byApp ? [path] : []))).toEqual(['user/profile']);
});

describe('redirect addresses', () => {
  it('are registered only if no other site or app can receive the response', () => {
    for (const good of [
      'https://dash.example/cb',
      'https://dash.example',
      'https://dash.example:8443/cb?x=1',
      'http://127.0.0.1/cb',
      'http://[::1]/cb',
      'http://localhost:3000/cb',
      'com.example.app:/cb',
      'com.example.app://cb',
    ])
      expect(redirectProblem(good), good).toBeNull();
    const bad = [
      'javascript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://dash.example/1',
      'about:blank',
      'myapp:/cb',
      'http://dash.example/cb',
      'http://127.0.0.1.evil.example/cb',
      'https://user@dash.example/cb',
      'https://dash.example/cb#x',
      'https://dash.example/cb#',
      'https://dash.example/a/../cb',
      'https:/dash.example/cb',
      'https://DASH.example/cb',
      '/cb',
      '',
    ];
    for (const uri of bad) expect(redirectProblem(uri), uri).not.toBeNull();
    console.log(`redirect addresses that cannot be registered: n = ${bad.length}`);
  });

  it('match exactly, except for the port of a loopback address', () => {
    const own = ['http://127.0.0.1/cb', 'http://[::1]:9/cb?x'];
    for (const good of ['http://127.0.0.1/cb', 'http://127.0.0.1:50000/cb', 'http://[::1]:1/cb?x'])
      expect(isRegisteredRedirect(own, good), good).toBe(true);
    for (const bad of [
      'http://127.0.0.1:/cb',
      'http://127.0.0.1:99999/cb',
      'http://127.0.0.1:1/cb?',
      'http://[::1]/cb',
    ])
      expect(isRegisteredRedirect(own, bad), bad).toBe(false);
    expect(isRegisteredRedirect(['http://localhost:3000/cb'], 'http://localhost:3001/cb')).toBe(false);
    expect(isRegisteredRedirect(['https://dash.example/cb'], 'https://dash.example:443/cb')).toBe(false);
  });

  it('keep their own query when a response is added', () => {
    expect(authorizationResponseUrl('https://a.example/cb', { code: '1' })).toBe('https://a.example/cb?code=1');
    expect(authorizationResponseUrl('https://a.example/cb?b=c%20d', { code: '&' })).toBe(
      'https://a.example/cb?b=c%20d&code=%26',
    );
    expect(authorizationResponseUrl('https://a.example/cb?', { code: '1' })).toBe('https://a.example/cb?code=1');
  });
});
