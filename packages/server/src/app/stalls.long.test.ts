import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair } from '../sshKeys/generate.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainerWithPort } from '../testing/containerWithPort.ts';
import type { Person } from '../testing/person.ts';
import { type Attack, type Attacker, openAttacker, requestBytes } from '../testing/standstill.ts';
import { type HostileDaemon, joinHostileDaemon } from '../volumeFiles/testing/hostileDaemon.ts';
import { cookies } from './testing/hostileCookies.ts';
import { hostileKeys, hostileMessages } from './testing/hostileForms.ts';
import { listings } from './testing/hostileListings.ts';

/** Not resolved: the tests send it as their `Host` header. */
const DOMAIN = 'apps.localhost:4400';

let app: TestApp;
let owner: Person;
let daemon: HostileDaemon;
let attacker: Attacker;

beforeAll(async () => {
  app = await startTestApp({ APPS_DOMAIN: DOMAIN }, { role: 'api' });
  owner = await app.signUp();
  daemon = await joinHostileDaemon(app, owner);
  attacker = openAttacker();
});
afterAll(async () => {
  await attacker?.close();
  await daemon?.close();
  await app?.close();
});

const fill = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));

const asked = (what: string, target: string, headers: [string, string][] = []): Attack => ({
  what,
  url: app.url,
  bytes: () => requestBytes({ target, headers: [['host', new URL(app.url).host], ...headers] }),
});

const called = (what: string, path: string, input: () => object, isPublic = false): Attack => ({
  what,
  url: app.url,
  bytes: () =>
    requestBytes({
      method: 'POST',
      target: API_PREFIX + path,
      headers: [
        ['host', new URL(app.url).host],
        ['content-type', 'application/json'],
        ['idempotency-key', randomUUID()],
        ...(isPublic ? [] : ([['authorization', `Bearer ${owner.tokens().accessToken}`]] as const)),
        ...(isPublic ? [] : ([['x-client-id', String(owner.workspaceId)]] as const)),
      ],
      body: JSON.stringify(input()),
    }),
});

describe('the event loop goes on', () => {
  it('while something ordinary is asked', async () => {
    const plain = asked('a probe', '/healthz');
    await attacker.expectQuick(
      'ordinary',
      [200],
      [
        plain,
        { ...plain, what: '50 probes at once', connections: 50 },
        called('a list', api.sshKeys.list.path, () => ({})),
      ],
    );
  });

  it('while cookies and tokens are sent to a port', async () => {
    const { slug } = await aContainerWithPort(app.ctx, owner);
    const at = (what: string, host: string, name: string, value: string): Attack => ({
      what,
      url: app.url,
      bytes: () =>
        requestBytes({
          target: '/',
          headers: [
            ['host', `${host}-8080.${DOMAIN}`],
            ['accept', 'text/html'],
            [name, value],
          ],
        }),
    });
    const attacks = Object.entries(cookies()).flatMap(([what, value]) => [
      at(what, slug, 'cookie', value),
      at(`${what}, at a port of nobody`, 'nobodys', 'cookie', value),
    ]);
    for (const [what, value] of [
      ['spaces behind Bearer', `bearer${fill(' ', 14_000)}x y`],
      ['a token without an end', `bearer ${fill('stg_', 14_000)} x`],
      ['a token of tabs', `basic${fill('\t', 14_000)}`],
    ] as const)
      attacks.push(at(what, slug, 'authorization', value));
    attacks.push(at('a long language', slug, 'accept-language', fill('a;q=0.1,', 14_000)));
    await attacker.expectQuick('ports', [302, 401], attacks);
  });

  it('while public keys are added and messages sent', async () => {
    const { publicKey } = await generateKeyPair('ed25519', 'me');
    const attacks = Object.entries(hostileKeys(publicKey)).map(([what, text], n) =>
      called(what, api.sshKeys.add.path, () => ({ title: `key ${n}`, publicKey: text })),
    );
    await attacker.expectQuick('public keys', [200, 400], attacks);
    // Ten an hour are taken from one address.
    const messages = Object.entries(hostileMessages).map(([what, message]) =>
      called(what, api.contact.send.path, () => ({ topic: 'Help', name: 'A', email: 'a@example.com', message }), true),
    );
    await attacker.expectQuick('messages', [200], messages, 1);
  });

  it('while a hostile daemon answers', async () => {
    const attacks = listings.map(([what, limit, answer]): Attack => {
      const call = called(what, api.volumeFiles.list.path, () => ({ ...daemon.of, limit }));
      return { ...call, what: `${what} (limit ${limit})`, bytes: () => daemon.answerWith(answer).then(call.bytes) };
    });
    await attacker.expectQuick('listings', [200, 503], attacks);
  });

  const described = (what: string, tags = '', target = '/openapi.json') =>
    asked(what, target, tags === '' ? [] : [['if-none-match', tags]]);

  it('while the description of the API is asked for', async () => {
    // Each process writes it once, in 150 ms, for whoever asks first.
    const etag = (await fetch(`${app.url}/openapi.json`)).headers.get('etag') ?? '';
    const attacks = [
      described('again'),
      { ...described('50 times at once'), connections: 50 },
      described('with its tag', etag),
      described('with a weak tag', `W/${etag}`),
      described('with 7,000 tags', fill('"x",', 14_000) + etag),
      described('with commas', fill(',', 14_000)),
      described('with spaces', `x${fill(' ', 14_000)}x`),
      described('with weak tags', fill('W/', 14_000)),
      described('with a query', '', `/openapi.json?${fill('a=b&', 14_000)}`),
    ];
    await attacker.expectQuick('the description', [200, 304], attacks);
  });

  it('and the platform still serves', async () => {
    expect((await owner.client(api.sshKeys.list, {})).totalCount).toBeGreaterThan(0);
  });
});
