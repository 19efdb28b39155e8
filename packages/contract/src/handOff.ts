/**
 * What an app asks with: the authorization request of OAuth 2.1 with PKCE (RFC 7636). Without a schema library, since
 * every first page looks for it in its address; `apps.ts` makes the schema of the call from the same rules.
 */
export interface HandOff {
  client_id: string;
  code_challenge: string;
  code_challenge_method: 'S256';
  redirect_uri: string;
  response_type: 'code';
  state: string;
}

/** Nothing but S256 and the code flow is known here: a request for anything else is none (RFC 9700 2.1.1). */
export const HAND_OFF_RULES: Readonly<Record<keyof HandOff, RegExp>> = {
  client_id: /^[\x21-\x7e]{1,100}$/,
  code_challenge: /^[A-Za-z0-9_-]{43}$/,
  code_challenge_method: /^S256$/,
  redirect_uri: /^[\x21-\x7e]{1,500}$/,
  response_type: /^code$/,
  /** RFC 6749, appendix A.5. */
  state: /^[\x20-\x7e]{1,1000}$/,
};
const FIELDS = Object.keys(HAND_OFF_RULES) as (keyof HandOff)[];

/** Of a state that holds the whole request; also of the address of the consent page, which is a return address. */
const LONGEST = 2048;

/**
 * The request that an address carries: whole in its query, whole in its hash, or whole in a `state` of either that is
 * base64 JSON. `null` for anything less; parts of two places are never put together.
 */
export function handOffIn(url: URL): HandOff | null {
  for (const part of [url.search, url.hash]) {
    if (part.length <= 1) continue;
    const params = new URLSearchParams(part.slice(1));
    const found = whole(once(params)) ?? fromState(params);
    if (found) return found;
  }
  return null;
}

/** Whether an address was meant to be such a link, complete or not. */
export function looksLikeHandOff(url: URL): boolean {
  return [url.search, url.hash].some((part) => {
    const params = new URLSearchParams(part.slice(1));
    return params.has('client_id') || params.has('code_challenge') || params.has('redirect_uri');
  });
}

/** The query that carries a request. */
export function handOffQuery(handOff: HandOff): string {
  return new URLSearchParams(FIELDS.map((field) => [field, handOff[field]])).toString();
}

/** What is given twice is nobody's (RFC 6749 3.1); what nobody knows is not looked at. */
function once(params: URLSearchParams): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const field of FIELDS) {
    const given = params.getAll(field);
    if (given.length === 1) values.set(field, given[0]);
  }
  return values;
}

/** A map has no prototype to reach for; whatever else the JSON names makes it none of ours. */
function fromState(params: URLSearchParams): HandOff | null {
  const given = params.getAll('state');
  const [state = ''] = given;
  if (given.length !== 1 || state.length < 100 || state.length > LONGEST) return null;
  const json = jsonIn(state);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const values = new Map<string, unknown>(Object.entries(json));
  const isOurs = Object.keys(json).every((key) => (FIELDS as string[]).includes(key));
  return isOurs ? whole(values) : null;
}

/** Base64 with either alphabet. A query writes "+" as a space where it was not encoded. */
function jsonIn(state: string): unknown {
  const base64 = state.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    // Any state of anybody else's looks so.
    return null;
  }
}

function whole(values: Map<string, unknown>): HandOff | null {
  const found: Partial<Record<keyof HandOff, string>> = {};
  for (const field of FIELDS) {
    const value = values.get(field);
    if (typeof value !== 'string' || !HAND_OFF_RULES[field].test(value)) return null;
    found[field] = value;
  }
  const handOff = found as unknown as HandOff;
  return handOffQuery(handOff).length <= LONGEST - '/consent?'.length ? handOff : null;
}
