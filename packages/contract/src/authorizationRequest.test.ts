import { describe, expect, it } from 'vitest';
import {
  type AuthorizationRequest,
  authorizationRequestQuery,
  findAuthorizationRequest,
  looksLikeAuthorizationRequest,
} from './authorizationRequest.ts';

const WHOLE: AuthorizationRequest = {
  client_id: 'stagi-cli',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  redirect_uri: 'http://127.0.0.1:4777/callback',
  response_type: 'code',
  state: 'x~y+z/ü'.replace('ü', '='),
};
const at = (rest: string) => new URL(`/sign-in${rest}`, 'http://localhost:4400');
const base64 = (value: unknown) => btoa(typeof value === 'string' ? value : JSON.stringify(value));
const url64 = (value: unknown) => base64(value).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

describe('the authorization request in a URL', () => {
  it('is found complete in the query, in the hash, or in a state of either', () => {
    const query = authorizationRequestQuery(WHOLE);
    for (const rest of [
      `?${query}`,
      `?${query}&scope=ignored&prompt=login`,
      `#${query}`,
      `?other=1#${query}`,
      `?state=${encodeURIComponent(base64(WHOLE))}`,
      `?state=${base64(WHOLE)}`,
      `?state=${url64(WHOLE)}`,
      `#state=${url64(WHOLE)}&id_token=x`,
    ])
      expect(findAuthorizationRequest(at(rest)), rest).toEqual(WHOLE);
  });

  it('is not found when fields are missing, added or invalid', () => {
    const { client_id: _, ...rest } = WHOLE;
    const query = authorizationRequestQuery(WHOLE);
    const state = (value: unknown) => `?state=${encodeURIComponent(base64(value))}`;
    const hostile = [
      '',
      '?state=abc',
      `?${new URLSearchParams(rest)}`,
      // Never put together from two places.
      `?${new URLSearchParams(rest)}#client_id=stagi-cli`,
      `?${query}&client_id=other`,
      `?${query}&state=other`,
      `?${query.replace('S256', 'plain')}`,
      `?${query.replace('response_type=code', 'response_type=token')}`,
      state({ ...WHOLE, extra: 1 }),
      state(JSON.stringify(WHOLE).replace('{', '{"__proto__":{"client_id":"evil"},')),
      state(JSON.stringify(rest).replace('{', '{"__proto__":{"client_id":"evil"},')),
      state(JSON.stringify(WHOLE).replace('{', '{"constructor":1,')),
      state({ ...WHOLE, client_id: 7 }),
      state({ ...WHOLE, client_id: ['stagi-cli'] }),
      state({ ...WHOLE, state: null }),
      state([WHOLE]),
      state('null'),
      state(`${JSON.stringify(WHOLE)} `.repeat(2)),
      `?state=${base64(WHOLE).slice(5)}`,
      `?state=${base64(WHOLE)}&state=${base64(WHOLE)}`,
      state({ ...WHOLE, state: 's'.repeat(2000) }),
      state({ ...WHOLE, redirect_uri: `https://a.example/${'x'.repeat(600)}` }),
      state({ ...WHOLE, redirect_uri: 'https://a.example/\r\nx' }),
      state({ ...WHOLE, state: 'a\nb' }),
      `?${authorizationRequestQuery({ ...WHOLE, state: '%'.repeat(900) })}`,
      `?state=${'A'.repeat(3000)}`,
      `?state=${encodeURIComponent('ÿþ'.repeat(100))}`,
    ];
    for (const link of hostile) expect(findAuthorizationRequest(at(link)), link).toBeNull();
    expect(Object.hasOwn(Object.prototype, 'client_id')).toBe(false);
    console.log(`links that are none: n = ${hostile.length}, 0 taken`);
  });

  it('is recognised as one also when it is incomplete', () => {
    expect(looksLikeAuthorizationRequest(at('?client_id=x'))).toBe(true);
    expect(looksLikeAuthorizationRequest(at('#code_challenge=x'))).toBe(true);
    expect(looksLikeAuthorizationRequest(at('?returnUrl=%2Fcloud%3Fclient_id%3D1'))).toBe(false);
  });
});
