/**
 * The authorization request of OAuth 2.1 with PKCE (RFC 7636), found in a URL ("hand-off link"). Without a schema library,
 * as every first page looks for it in its address; `apps.ts` makes the schema of the call from the same rules.
 */
export interface AuthorizationRequest {
  client_id: string;
  code_challenge: string;
  code_challenge_method: 'S256';
  redirect_uri: string;
  response_type: 'code';
  state: string;
}

/** Only S256 and the code flow are supported; other requests are not recognised (RFC 9700 2.1.1). */
export const AUTHORIZATION_REQUEST_RULES: Readonly<Record<keyof AuthorizationRequest, RegExp>> = {
  client_id: /^[\x21-\x7e]{1,100}$/,
  code_challenge: /^[A-Za-z0-9_-]{43}$/,
  code_challenge_method: /^S256$/,
  redirect_uri: /^[\x21-\x7e]{1,500}$/,
  response_type: /^code$/,
  /** RFC 6749, appendix A.5. */
  state: /^[\x20-\x7e]{1,1000}$/,
};
const FIELDS = Object.keys(AUTHORIZATION_REQUEST_RULES) as (keyof AuthorizationRequest)[];

/** Of a `state` with the whole request, and of the consent page's address, which must fit into a return address. */
const MAX_LENGTH = 2048;

/**
 * Finds the request in a URL: complete in the query, in the hash, or in a `state` of either that is base64 JSON. `null`
 * for anything less; parts from two places are never combined.
 */
export function findAuthorizationRequest(url: URL): AuthorizationRequest | null {
  for (const part of [url.search, url.hash]) {
    if (part.length <= 1) continue;
    const params = new URLSearchParams(part.slice(1));
    const found = validRequest(valuesGivenOnce(params)) ?? requestFromState(params);
    if (found) return found;
  }
  return null;
}

/** Whether a URL was meant to carry such a request, complete or not. */
export function looksLikeAuthorizationRequest(url: URL): boolean {
  return [url.search, url.hash].some((part) => {
    const params = new URLSearchParams(part.slice(1));
    return params.has('client_id') || params.has('code_challenge') || params.has('redirect_uri');
  });
}

/** The query string of a request. */
export function authorizationRequestQuery(handOff: AuthorizationRequest): string {
  return new URLSearchParams(FIELDS.map((field) => [field, handOff[field]])).toString();
}

/** Skips parameters that are given twice (RFC 6749 3.1), and unknown ones. */
function valuesGivenOnce(params: URLSearchParams): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const field of FIELDS) {
    const given = params.getAll(field);
    if (given.length === 1) values.set(field, given[0]);
  }
  return values;
}

/** A map is safe from prototype pollution. JSON with any unknown key is not such a request. */
function requestFromState(params: URLSearchParams): AuthorizationRequest | null {
  const given = params.getAll('state');
  const [state = ''] = given;
  if (given.length !== 1 || state.length < 100 || state.length > MAX_LENGTH) return null;
  const json = decodeBase64Json(state);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const values = new Map<string, unknown>(Object.entries(json));
  const isOurs = Object.keys(json).every((key) => (FIELDS as string[]).includes(key));
  return isOurs ? validRequest(values) : null;
}

/** Decodes base64 with either alphabet. An unencoded "+" arrives as a space in a query. */
function decodeBase64Json(state: string): unknown {
  const base64 = state.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    // A `state` of some other app.
    return null;
  }
}

function validRequest(values: Map<string, unknown>): AuthorizationRequest | null {
  const found: Partial<Record<keyof AuthorizationRequest, string>> = {};
  for (const field of FIELDS) {
    const value = values.get(field);
    if (typeof value !== 'string' || !AUTHORIZATION_REQUEST_RULES[field].test(value)) return null;
    found[field] = value;
  }
  const handOff = found as unknown as AuthorizationRequest;
  return authorizationRequestQuery(handOff).length <= MAX_LENGTH - '/consent?'.length ? handOff : null;
}
