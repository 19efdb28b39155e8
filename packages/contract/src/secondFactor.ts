import { z } from 'zod';
import { AuthResponse, SecondFactorMethod } from './authResponse.ts';
import { call } from './call.ts';
import { Name } from './fields.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { PasskeyAssertion, PasskeyAttestation, PasskeyCreation, PasskeyRequest } from './passkeys.ts';
import { text } from './text.ts';

/** From an app (6 digits), a mail (8 digits) or the recovery codes; spaces and case do not matter. */
const FactorCode = z
  .string(text('Verification code is required'))
  .transform((code) => code.replace(/[\s-]/g, '').toLowerCase())
  .pipe(z.string().min(1, text('Verification code is required')).max(40, text('Incorrect or expired code')));

/** Exactly one of the two. */
const Proof = { code: FactorCode.optional(), assertion: PasskeyAssertion.optional() };
const hasOneProof = ({ code, assertion }: { code?: unknown; assertion?: unknown }) =>
  (code === undefined) !== (assertion === undefined);
const ONE_PROOF = { message: text('Verification code is required'), path: ['code'] };

const Ticket = z.string().min(1).max(100);
const Request = z.object({ isSuccess: z.literal(true), options: PasskeyRequest });
const RecoveryCodes = z.array(z.string());
/** The recovery codes that are made with the first second factor, shown once; `null` when there are some already. */
const SuccessWithRecoveryCodes = SuccessResponse.extend({ recoveryCodes: RecoveryCodes.nullable() });

export const PASSKEYS_MAX = 20;

export const Passkey = z.object({
  id: Id,
  name: z.string(),
  /** Synced by a password manager or a vendor account, not bound to one device. */
  synced: z.boolean(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
});
export type Passkey = z.infer<typeof Passkey>;

export const secondFactor = {
  view: call({
    path: 'auth/second-factor/view',
    summary: 'My second factors.',
    auth: 'signed-in',
    input: z.object({}),
    output: z.object({
      isSuccess: z.literal(true),
      totpSince: z.string().nullable(),
      passkeys: z.number().int(),
      recoveryCodesLeft: z.number().int(),
    }),
  }),
  verify: call({
    path: 'auth/second-factor/verify',
    summary: 'Completes a sign-in with the second factor: a code or a passkey.',
    auth: 'public',
    input: z.object({ ticket: Ticket, ...Proof }).refine(hasOneProof, ONE_PROOF),
    output: AuthResponse,
  }),
  passkeyOptions: call({
    path: 'auth/passkey/options',
    summary: 'A challenge for a passkey: to sign in with it alone, or, with a ticket, as a second factor.',
    auth: 'public',
    input: z.object({ ticket: Ticket.optional() }),
    output: Request,
  }),
  passkeyVerify: call({
    path: 'auth/passkey/verify',
    summary: 'Signs in with a passkey alone.',
    auth: 'public',
    input: z.object({ assertion: PasskeyAssertion }),
    output: AuthResponse,
  }),
  stepUpBegin: call({
    path: 'auth/step-up/begin',
    summary: 'Starts step-up authentication: the methods, or, without a second factor, a mailed code.',
    auth: 'signed-in',
    input: z.object({ newCode: z.boolean().optional() }),
    output: z.object({
      isSuccess: z.literal(true),
      methods: z.array(SecondFactorMethod),
      /** Set when there is no second factor. */
      mailed: z.object({ to: z.string(), nextInSeconds: z.number().int() }).nullable(),
    }),
  }),
  stepUpOptions: call({
    path: 'auth/step-up/options',
    summary: 'A passkey challenge for step-up authentication.',
    auth: 'signed-in',
    input: z.object({}),
    output: Request,
  }),
  stepUp: call({
    path: 'auth/step-up',
    summary: 'Step-up authentication: for 10 minutes this session may make the calls that require it.',
    auth: 'signed-in',
    input: z.object(Proof).refine(hasOneProof, ONE_PROOF),
    output: SuccessResponse,
  }),
  totpBegin: call({
    path: 'auth/totp/begin',
    summary: 'A secret for an authenticator app; it becomes active when a code of it is confirmed.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), secret: z.string(), uri: z.string() }),
  }),
  totpConfirm: call({
    path: 'auth/totp/confirm',
    summary: 'Activates the new authenticator app, instead of the previous one.',
    auth: 'signed-in',
    input: z.object({ code: FactorCode }),
    output: SuccessWithRecoveryCodes,
  }),
  totpRemove: call({
    path: 'auth/totp/remove',
    summary: 'Removes the authenticator app; without any second factor left also the recovery codes.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: SuccessResponse,
  }),
  recoveryCodes: call({
    path: 'auth/recovery-codes/create',
    summary: 'Ten new recovery codes, shown once; the previous ones become invalid.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), recoveryCodes: RecoveryCodes }),
  }),
  passkeyList: call({
    path: 'auth/passkey/list',
    summary: 'My passkeys.',
    auth: 'signed-in',
    input: ListInput,
    output: listOf(Passkey),
  }),
  passkeyAddOptions: call({
    path: 'auth/passkey/add-options',
    summary: 'The options for creating a passkey.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), options: PasskeyCreation }),
  }),
  passkeyAdd: call({
    path: 'auth/passkey/add',
    summary: 'Adds a passkey: it can sign in by itself, and is required besides the password.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ name: Name, attestation: PasskeyAttestation }),
    output: oneOf(Passkey).extend({ recoveryCodes: RecoveryCodes.nullable() }),
  }),
  passkeyEdit: call({
    path: 'auth/passkey/edit',
    summary: 'Renames a passkey.',
    auth: 'signed-in',
    input: z.object({ id: Id, name: Name }),
    output: oneOf(Passkey),
  }),
  passkeyRemove: call({
    path: 'auth/passkey/remove',
    summary: 'Removes a passkey; without any second factor left also the recovery codes.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ id: Id }),
    output: SuccessResponse,
  }),
};
