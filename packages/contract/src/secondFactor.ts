import { z } from 'zod';
import { AuthResponse, SecondFactorMethod } from './authResponse.ts';
import { call } from './call.ts';
import { Done, Id, ListInput, listOf, oneOf } from './page.ts';
import { PasskeyAssertion, PasskeyAttestation, PasskeyCreation, PasskeyRequest } from './passkeys.ts';

/** Of an app (6 digits), of a mail (8 digits) or of the recovery codes; spaces and case do not matter. */
const FactorCode = z
  .string('Verification code is required')
  .transform((code) => code.replace(/[\s-]/g, '').toLowerCase())
  .pipe(z.string().min(1, 'Verification code is required').max(40, 'Incorrect or expired code'));

/** One of the two. */
const Shown = { code: FactorCode.optional(), assertion: PasskeyAssertion.optional() };
const showsOne = ({ code, assertion }: { code?: unknown; assertion?: unknown }) =>
  (code === undefined) !== (assertion === undefined);
const ONE = { message: 'Verification code is required', path: ['code'] };

const Ticket = z.string().min(1).max(100);
const Request = z.object({ isSuccess: z.literal(true), options: PasskeyRequest });
const RecoveryCodes = z.array(z.string());
/** The recovery codes that came with the first factor, shown this once; `null` where there were some already. */
const WithCodes = Done.extend({ recoveryCodes: RecoveryCodes.nullable() });

export const PASSKEYS_MAX = 20;

export const PasskeyName = z
  .string('Name is required')
  .trim()
  .min(1, 'Name is required')
  .max(100, 'Name is too long: at most 100 characters');

export const Passkey = z.object({
  id: Id,
  name: z.string(),
  /** Kept by a password manager or an account of the maker, not by one device alone. */
  synced: z.boolean(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
});
export type Passkey = z.infer<typeof Passkey>;

export const secondFactor = {
  view: call({
    path: 'auth/second-factor/view',
    summary: 'What I have set up beside my password.',
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
    summary: 'Ends a sign-in that asked for a second factor: with a code, or with the answer of a passkey.',
    auth: 'public',
    input: z.object({ ticket: Ticket, ...Shown }).refine(showsOne, ONE),
    output: AuthResponse,
  }),
  passkeyOptions: call({
    path: 'auth/passkey/options',
    summary: 'A challenge for a passkey: to sign in with it alone, or, with a ticket, as second factor.',
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
    summary: 'How I can show that it is me: by a second factor, or, where I have none, by a code that this mails.',
    auth: 'signed-in',
    input: z.object({ newCode: z.boolean().optional() }),
    output: z.object({
      isSuccess: z.literal(true),
      methods: z.array(SecondFactorMethod),
      /** Where there is no second factor. */
      mailed: z.object({ to: z.string(), nextInSeconds: z.number().int() }).nullable(),
    }),
  }),
  stepUpOptions: call({
    path: 'auth/step-up/options',
    summary: 'A challenge for one of my passkeys, to show that it is me.',
    auth: 'signed-in',
    input: z.object({}),
    output: Request,
  }),
  stepUp: call({
    path: 'auth/step-up',
    summary: 'Shows that it is me: for 10 minutes this session may make the calls that ask for it.',
    auth: 'signed-in',
    input: z.object(Shown).refine(showsOne, ONE),
    output: Done,
  }),
  totpBegin: call({
    path: 'auth/totp/begin',
    summary: 'A secret for an authenticator app; it counts once a code of it has been confirmed.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), secret: z.string(), uri: z.string() }),
  }),
  totpConfirm: call({
    path: 'auth/totp/confirm',
    summary: 'Takes the new authenticator app into use, instead of the one before.',
    auth: 'signed-in',
    input: z.object({ code: FactorCode }),
    output: WithCodes,
  }),
  totpRemove: call({
    path: 'auth/totp/remove',
    summary: 'Removes the authenticator app; with the last factor the recovery codes go too.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: Done,
  }),
  recoveryCodes: call({
    path: 'auth/recovery-codes/create',
    summary: 'Ten new recovery codes, shown this once; those before count no more.',
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
    summary: 'What a new passkey is made with.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({}),
    output: z.object({ isSuccess: z.literal(true), options: PasskeyCreation }),
  }),
  passkeyAdd: call({
    path: 'auth/passkey/add',
    summary: 'Adds a passkey: from then on it signs in by itself, and is asked for beside the password.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ name: PasskeyName, attestation: PasskeyAttestation }),
    output: oneOf(Passkey).extend({ recoveryCodes: RecoveryCodes.nullable() }),
  }),
  passkeyEdit: call({
    path: 'auth/passkey/edit',
    summary: 'Gives a passkey another name.',
    auth: 'signed-in',
    input: z.object({ id: Id, name: PasskeyName }),
    output: oneOf(Passkey),
  }),
  passkeyRemove: call({
    path: 'auth/passkey/remove',
    summary: 'Removes a passkey; with the last factor the recovery codes go too.',
    auth: 'signed-in',
    stepUp: true,
    input: z.object({ id: Id }),
    output: Done,
  }),
};
