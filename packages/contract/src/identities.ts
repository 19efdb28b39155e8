import { z } from 'zod';
import { SignInResponse } from './authResponse.ts';
import { call } from './call.ts';
import { isKnownProvider } from './identityProviders.ts';
import { SuccessResponse } from './page.ts';
import { ProviderId } from './providerId.ts';
import { InviteCode } from './signUpRules.ts';

const State = z.string().min(1).max(200);
const Nonce = z.string().min(1).max(200);
const IdToken = z.string().min(1).max(16_384);
/** Some providers put a whole encrypted session into it. */
const Code = z.string().min(1).max(8_192);
/** The provider's own name for itself (RFC 9207), if it gave one: a mixed-up answer is refused by it. */
const Issuer = z.string().max(400).optional();
const OpenIdProvider = ProviderId.refine((id) => !isKnownProvider(id));

/** Where the browser is redirected, with the state and nonce that must come back; each is valid once. */
const GoogleAuthorization = z.object({
  isSuccess: z.literal(true),
  link: z.url(),
  state: z.string(),
  nonce: z.string(),
});
const GithubAuthorization = GoogleAuthorization.omit({ nonce: true });

/** The parameters with which a provider redirected the browser back: Google's have a token and its nonce, others a code. */
const ProviderCallback = z
  .strictObject({
    provider: ProviderId,
    state: State,
    token: IdToken.optional(),
    nonce: Nonce.optional(),
    code: Code.optional(),
    iss: Issuer,
  })
  .superRefine((returned, ctx) => {
    for (const field of returned.provider === 'google' ? (['token', 'nonce'] as const) : (['code'] as const))
      if (returned[field] === undefined)
        ctx.addIssue({ code: 'invalid_type', expected: 'string', path: [field], input: undefined });
  });

/** An account at an identity provider that signs in to this one. */
export const ConnectedIdentity = z.object({
  provider: ProviderId,
  email: z.string().nullable(),
  connectedAt: z.string(),
  lastUsedAt: z.string(),
  /** Without it the user could no longer sign in. */
  isOnlyWayIn: z.boolean().optional(),
});
export type ConnectedIdentity = z.infer<typeof ConnectedIdentity>;

export const identities = {
  googleLink: call({
    path: 'auth/google-oauth/get-authentication-url',
    summary: 'The URL to log in with Google. State and nonce are valid once, for ten minutes.',
    auth: 'public',
    input: z.object({}),
    output: GoogleAuthorization,
  }),
  validateGoogle: call({
    path: 'auth/oauth/validate-code',
    summary: 'Logs in, or signs up, with an id token of Google; asks for the second factor where there is one.',
    auth: 'public',
    input: z.object({ token: IdToken, state: State, nonce: Nonce, invite: InviteCode.optional() }),
    output: SignInResponse,
  }),
  githubLink: call({
    path: 'auth/github-oauth/get-authentication-url',
    summary: 'The URL to log in with GitHub. The state is valid once, for ten minutes.',
    auth: 'public',
    input: z.object({}),
    output: GithubAuthorization,
  }),
  validateGithub: call({
    path: 'auth/github-oauth/validate-code',
    summary: 'Logs in, or signs up, with a code of GitHub; asks for the second factor where there is one.',
    auth: 'public',
    input: z.object({ code: Code, state: State, invite: InviteCode.optional() }),
    output: SignInResponse,
  }),
  openIdLink: call({
    path: 'auth/openid/get-authentication-url',
    summary: 'The URL to log in with an OpenID provider of this platform. The state is valid once, for ten minutes.',
    auth: 'public',
    input: z.object({ provider: OpenIdProvider }),
    output: GithubAuthorization,
  }),
  validateOpenId: call({
    path: 'auth/openid/validate-code',
    summary: 'Logs in, or signs up, with a code of an OpenID provider; asks for the second factor where there is one.',
    auth: 'public',
    input: z.object({
      provider: OpenIdProvider,
      code: Code,
      state: State,
      iss: Issuer,
      invite: InviteCode.optional(),
    }),
    output: SignInResponse,
  }),
  list: call({
    path: 'auth/identity/list',
    summary: 'The connected accounts of identity providers.',
    auth: 'signed-in',
    input: z.object({}),
    /** `onlyWayIn`: one of them is the only one. */
    output: SuccessResponse.extend({ identities: z.array(ConnectedIdentity), onlyWayIn: z.boolean() }),
  }),
  begin: call({
    path: 'auth/identity/begin',
    summary: 'The URL to connect an account of an identity provider. The answer is valid in this session only.',
    auth: 'signed-in',
    // A connected account can sign in, like a password.
    stepUp: true,
    input: z.object({ provider: ProviderId }),
    output: GithubAuthorization.extend({ nonce: z.string().nullable() }),
  }),
  connect: call({
    path: 'auth/identity/connect',
    summary: 'Connects the account that the identity provider has just confirmed.',
    auth: 'signed-in',
    input: ProviderCallback,
    output: SuccessResponse,
  }),
  disconnect: call({
    path: 'auth/identity/disconnect',
    summary: 'Disconnects an account of an identity provider. Refused for the last way to sign in.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ provider: ProviderId }),
    output: SuccessResponse,
  }),
};
