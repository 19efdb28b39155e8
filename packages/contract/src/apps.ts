import { z } from 'zod';
import { AUTHORIZATION_REQUEST_RULES } from './authorizationRequest.ts';
import { call } from './call.ts';
import { Id, ListInput, listOf, SuccessResponse } from './page.ts';
import { PERMISSIONS } from './permissions.ts';
import { text } from './text.ts';

const NOT_VALID = text('This app link is not valid');
const matching = (rule: RegExp) => z.string(NOT_VALID).regex(rule, NOT_VALID);

/** The authorization request of an app. Nothing is trimmed, as `state` is returned to the app unchanged. */
const Request = {
  client_id: matching(AUTHORIZATION_REQUEST_RULES.client_id),
  code_challenge: matching(AUTHORIZATION_REQUEST_RULES.code_challenge),
  code_challenge_method: z.literal('S256', NOT_VALID),
  redirect_uri: matching(AUTHORIZATION_REQUEST_RULES.redirect_uri),
  response_type: z.literal('code', NOT_VALID),
  state: matching(AUTHORIZATION_REQUEST_RULES.state),
};

export const App = z.object({
  id: z.string(),
  name: z.string(),
  /** An app of the operator: needs no consent, and may access every workspace of its user. */
  isFirstParty: z.boolean(),
  /** The most it may do, within its user's permissions; `null`: all of them. Never identity, members, roles, money out. */
  permissions: z.array(z.enum(PERMISSIONS)).nullable(),
});
export type App = z.infer<typeof App>;

/** The consent of a user to an app, until it is revoked. */
export const Consent = z.object({
  id: z.uuid(),
  app: App.omit({ permissions: true }),
  /** The one workspace that it may access; `null`: all of them. */
  workspace: z.object({ clientId: Id, clientName: z.string() }).nullable(),
  permissions: z.array(z.enum(PERMISSIONS)).nullable(),
  /** The IP address of its last use. */
  ip: z.string().nullable(),
  createdAt: z.string(),
  /** Accurate to five minutes, as tokens are refreshed that often. */
  lastUsedAt: z.string(),
});
export type Consent = z.infer<typeof Consent>;

export const apps = {
  authorizationCode: call({
    path: 'authorization/oauth/pkce/get-authorization-code',
    summary: 'Authorizes an app: a single-use code for its redirect URI, valid for 60 seconds, and the link to follow.',
    auth: 'signed-in',
    stepUp: true,
    /** `workspace_id` names the workspace that a third-party app may access; the default is X-Client-ID, else the first. */
    input: z.strictObject({ ...Request, workspace_id: Id.optional() }),
    output: SuccessResponse.extend({ code: z.string(), state: z.string(), iss: z.string(), link: z.string() }),
  }),
  authorizationRequest: call({
    path: 'authorization/oauth/pkce/view',
    summary: 'The app that asks for authorization, the host it redirects to, and the link that denies it.',
    auth: 'signed-in',
    input: z.strictObject(Request),
    output: z.object({ isSuccess: z.literal(true), app: App, redirectHost: z.string(), denyLink: z.string() }),
  }),
  consents: call({
    path: 'authorization/consent/list',
    summary: 'The apps that I have authorized.',
    auth: 'signed-in',
    input: ListInput,
    output: listOf(Consent),
  }),
  revokeConsent: call({
    path: 'authorization/consent/revoke',
    summary: 'Revokes the consent to an app: its tokens end at once.',
    auth: 'signed-in',
    input: z.object({ id: z.uuid() }),
    output: SuccessResponse,
  }),
};
