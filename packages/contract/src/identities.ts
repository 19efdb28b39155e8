import { z } from 'zod';
import { EnterResponse } from './authResponse.ts';
import { call } from './call.ts';
import { IDENTITY_PROVIDERS } from './identityProviders.ts';
import { Done } from './page.ts';

const Provider = z.enum(IDENTITY_PROVIDERS);
const State = z.string().min(1).max(200);
const Nonce = z.string().min(1).max(200);
const IdToken = z.string().min(1).max(16_384);
const Code = z.string().min(1).max(1024);

/** Where the browser goes, and what it must find in the answer it comes back with: both are good for one return. */
const GoogleTrip = z.object({ isSuccess: z.literal(true), link: z.url(), state: z.string(), nonce: z.string() });
const GithubTrip = GoogleTrip.omit({ nonce: true });

/** What a provider gave the browser on its way back. */
const Returned = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('google'), token: IdToken, state: State, nonce: Nonce }),
  z.strictObject({ provider: z.literal('github'), code: Code, state: State }),
]);

/** An account elsewhere that logs into this one. */
export const ConnectedIdentity = z.object({
  provider: Provider,
  email: z.string().nullable(),
  connectedAt: z.string(),
  lastUsedAt: z.string(),
});
export type ConnectedIdentity = z.infer<typeof ConnectedIdentity>;

export const identities = {
  googleLink: call({
    path: 'auth/google-oauth/get-authentication-url',
    summary: 'Where to log in with Google. State and nonce come back with the id token, once, within ten minutes.',
    auth: 'public',
    input: z.object({}),
    output: GoogleTrip,
  }),
  validateGoogle: call({
    path: 'auth/oauth/validate-code',
    summary:
      'Logs in, or signs up, with the id token of Google for this state and nonce; who has a second factor is asked for it.',
    auth: 'public',
    input: z.object({ token: IdToken, state: State, nonce: Nonce }),
    output: EnterResponse,
  }),
  githubLink: call({
    path: 'auth/github-oauth/get-authentication-url',
    summary: 'Where to log in with GitHub. The state comes back with the code, once, within ten minutes.',
    auth: 'public',
    input: z.object({}),
    output: GithubTrip,
  }),
  validateGithub: call({
    path: 'auth/github-oauth/validate-code',
    summary: 'Logs in, or signs up, with the code of GitHub for this state; who has a second factor is asked for it.',
    auth: 'public',
    input: z.object({ code: Code, state: State }),
    output: EnterResponse,
  }),
  list: call({
    path: 'auth/identity/list',
    summary: 'The accounts elsewhere that log into mine.',
    auth: 'signed-in',
    input: z.object({}),
    /** `onlyWayIn`: whoever disconnected one now could not log in any more. */
    output: Done.extend({ identities: z.array(ConnectedIdentity), onlyWayIn: z.boolean() }),
  }),
  begin: call({
    path: 'auth/identity/begin',
    summary:
      'Where to prove an account elsewhere, to connect it to mine. What comes back is good in this session only.',
    auth: 'signed-in',
    // It is another way in, as a password is.
    stepUp: true,
    input: z.object({ provider: Provider }),
    output: GithubTrip.extend({ nonce: z.string().nullable() }),
  }),
  connect: call({
    path: 'auth/identity/connect',
    summary: 'Connects the account that the provider has just shown: from now on it logs into mine.',
    auth: 'signed-in',
    input: Returned,
    output: Done,
  }),
  disconnect: call({
    path: 'auth/identity/disconnect',
    summary: 'Takes an account elsewhere off mine. The last way in stays.',
    auth: 'signed-in',
    input: z.object({ provider: Provider }),
    output: Done,
  }),
};
