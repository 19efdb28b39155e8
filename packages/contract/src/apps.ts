import { z } from 'zod';
import { call } from './call.ts';
import { HAND_OFF_RULES } from './handOff.ts';
import { Done, Id, ListInput, listOf } from './page.ts';
import { PERMISSIONS } from './permissions.ts';

const NOT_VALID = 'This link of an app is not valid';
const text = (rule: RegExp) => z.string(NOT_VALID).regex(rule, NOT_VALID);

/** The authorization request of an app. `state` is the app's own and goes back as it came: nothing here is trimmed. */
const Request = {
  client_id: text(HAND_OFF_RULES.client_id),
  code_challenge: text(HAND_OFF_RULES.code_challenge),
  code_challenge_method: z.literal('S256', NOT_VALID),
  redirect_uri: text(HAND_OFF_RULES.redirect_uri),
  response_type: z.literal('code', NOT_VALID),
  state: text(HAND_OFF_RULES.state),
};

export const App = z.object({
  id: z.string(),
  name: z.string(),
  /** The platform's own: nobody is asked, and it reaches every workspace of its user. */
  isFirstParty: z.boolean(),
  /** What it may do at most, where its user may; `null`: whatever its user may. Never identity, members, roles, money out. */
  permissions: z.array(z.enum(PERMISSIONS)).nullable(),
});
export type App = z.infer<typeof App>;

/** An app that somebody has let in, until they take that back. */
export const Consent = z.object({
  id: z.uuid(),
  app: App.omit({ permissions: true }),
  /** The one workspace that it reaches; `null`: all of them. */
  workspace: z.object({ clientId: Id, clientName: z.string() }).nullable(),
  permissions: z.array(z.enum(PERMISSIONS)).nullable(),
  /** The address of its last use. */
  ip: z.string().nullable(),
  createdAt: z.string(),
  /** To five minutes: tokens are renewed that often. */
  lastUsedAt: z.string(),
});
export type Consent = z.infer<typeof Consent>;

export const apps = {
  authorizationCode: call({
    path: 'authorization/oauth/pkce/get-authorization-code',
    summary: 'Lets an app in: a code for its redirect address, valid once and for 60 seconds, and the link to follow.',
    auth: 'signed-in',
    stepUp: true,
    /** `workspace_id` may name the one workspace that an app of others gets; else X-Client-ID does, else the first. */
    input: z.strictObject({ ...Request, workspace_id: Id.optional() }),
    output: Done.extend({ code: z.string(), state: z.string(), iss: z.string(), link: z.string() }),
  }),
  authorizationRequest: call({
    path: 'authorization/oauth/pkce/view',
    summary: 'Who asks to be let in, where they are sent back to, and the link that tells them no.',
    auth: 'signed-in',
    input: z.strictObject(Request),
    output: z.object({ isSuccess: z.literal(true), app: App, redirectHost: z.string(), denyLink: z.string() }),
  }),
  consents: call({
    path: 'authorization/consent/list',
    summary: 'The apps that I have let in.',
    auth: 'signed-in',
    input: ListInput,
    output: listOf(Consent),
  }),
  revokeConsent: call({
    path: 'authorization/consent/revoke',
    summary: 'Shuts an app out: its tokens end at once.',
    auth: 'signed-in',
    input: z.object({ id: z.uuid() }),
    output: Done,
  }),
};
