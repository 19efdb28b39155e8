import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { BRAND } from '@stagi/contract/brand.ts';
import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreation,
  PasskeyRequest,
} from '@stagi/contract/passkeys.ts';
import { PASSKEYS_MAX } from '@stagi/contract/secondFactor.ts';
import { text } from '@stagi/contract/text.ts';
import { type Selectable, sql } from 'kysely';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import type { PasskeyTable } from '../db/identityTables.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { passkeyAddedMail } from '../mail/accountMails.ts';
import type { SignedIn } from '../sessions/authenticate.ts';
import { notifyOwner } from './notifyOwner.ts';
import { type ChallengePurpose, consumeChallenge, issueChallenge } from './passkeyChallenge.ts';
import { addFactorWithCodes } from './recoveryCodes.ts';

const TIMEOUT_MS = 5 * 60_000;
const NOT_ACCEPTED = text('This passkey is not accepted here');

/** Imported with the first passkey: importing it takes a tenth of the time of a start. */
const webauthn = () => import('@simplewebauthn/server');

/** A challenge for any passkey of this site, or for those of one person. */
export async function passkeyRequest(
  ctx: Context,
  asked: ChallengePurpose,
  userId: number | null,
): Promise<PasskeyRequest> {
  const own = userId === null ? [] : await passkeysOf(ctx.db, userId);
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: siteOf(ctx.config).id,
    challenge: new Uint8Array(await issueChallenge(ctx.db, asked)),
    allowCredentials: own.map(({ credential_id, transports }) => ({
      id: credential_id,
      transports,
    })),
    timeout: TIMEOUT_MS,
    // Alone a passkey counts as two factors, so its device must verify the user; beside a password it is the second.
    userVerification: asked.purpose === 'sign-in' ? 'required' : 'preferred',
  });
  return options as PasskeyRequest;
}

interface Checked {
  userId: number;
  /** Stores the new counter; false when a concurrent use, perhaps of a cloned passkey, has stored a higher one. */
  consume(trx: Db): Promise<boolean>;
}

/**
 * Verifies a passkey's answer: challenge, origin, signature and counter. `null` when any is wrong, also when the counter
 * says that the passkey was cloned (WebAuthn, section 6.1.1).
 */
export async function verifyPasskey(
  ctx: Context,
  assertion: PasskeyAssertion,
  asked: ChallengePurpose,
): Promise<Checked | null> {
  const challenge = await consumeChallenge(ctx.db, assertion.response.clientDataJSON, asked);
  const passkey = await ctx.db
    .selectFrom('passkey')
    .innerJoin('app_user', 'app_user.id', 'passkey.user_id')
    .selectAll('passkey')
    .select('app_user.passkey_handle')
    .where('credential_id', '=', assertion.id)
    .executeTakeFirst();
  if (challenge === null || !passkey) return null;
  const { userHandle } = assertion.response;
  const handle = passkey.passkey_handle?.toString('base64url');
  // An answer may leave out the user only where the challenge was issued for a known user.
  if (userHandle ? userHandle !== handle : asked.purpose === 'sign-in') return null;
  const { id, origin } = siteOf(ctx.config);
  const { verifyAuthenticationResponse } = await webauthn();
  const verified = await verifyAuthenticationResponse({
    response: { ...assertion, clientExtensionResults: {} } as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: asked.purpose === 'sign-in',
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
  }).catch((cause: unknown) => {
    ctx.log.warn({ err: cause, passkeyId: passkey.id }, 'the answer of a passkey is not accepted');
    return null;
  });
  if (!verified?.verified) return null;
  const counter = BigInt(verified.authenticationInfo.newCounter);
  return {
    userId: passkey.user_id,
    async consume(trx) {
      const { numUpdatedRows } = await trx
        .updateTable('passkey')
        .set({
          counter,
          synced: verified.authenticationInfo.credentialBackedUp,
          last_used_at: sql<Date>`now()`,
        })
        .where('id', '=', passkey.id)
        // Synced passkeys have no counter: theirs stays 0.
        .where((where) =>
          where.or([where('counter', '<', counter), where.and([where('counter', '=', 0n), where.val(counter === 0n)])]),
        )
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

export async function passkeyCreation(ctx: SignedIn): Promise<PasskeyCreation> {
  const own = await passkeysOf(ctx.db, ctx.user.id);
  if (own.length >= PASSKEYS_MAX) throw refused(text('At most {{most}} passkeys'), { most: PASSKEYS_MAX });
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: BRAND,
    rpID: siteOf(ctx.config).id,
    userID: new Uint8Array(await userHandleOf(ctx.db, ctx.user.id)),
    userName: ctx.user.email,
    userDisplayName: ctx.user.name,
    challenge: new Uint8Array(await issueChallenge(ctx.db, { purpose: 'add', sessionId: ctx.session.id })),
    attestationType: 'none',
    excludeCredentials: own.map(({ credential_id, transports }) => ({
      id: credential_id,
      transports,
    })),
    // Discoverable and user-verifying: it can sign in without an address or a password.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    timeout: TIMEOUT_MS,
  });
  return options as PasskeyCreation;
}

/** Adds a passkey, with recovery codes if it is the user's first second factor. */
export async function addPasskey(
  ctx: SignedIn,
  { name, attestation }: { name: string; attestation: PasskeyAttestation },
): Promise<{ row: Selectable<PasskeyTable>; recoveryCodes: string[] | null }> {
  const asked: ChallengePurpose = { purpose: 'add', sessionId: ctx.session.id };
  const challenge = await consumeChallenge(ctx.db, attestation.response.clientDataJSON, asked);
  if (challenge === null) throw invalid(NOT_ACCEPTED, 'attestation');
  const { id, origin } = siteOf(ctx.config);
  const { verifyRegistrationResponse } = await webauthn();
  const verified = await verifyRegistrationResponse({
    response: { ...attestation, clientExtensionResults: {} } as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
  }).catch((cause: unknown) => {
    ctx.log.warn({ err: cause }, 'a new passkey is not accepted');
    return null;
  });
  if (!verified?.verified) throw invalid(NOT_ACCEPTED, 'attestation');
  const { credential, credentialBackedUp } = verified.registrationInfo;
  let row: Selectable<PasskeyTable> | undefined;
  const recoveryCodes = await addFactorWithCodes(ctx, ctx.user.id, async (trx) => {
    if ((await passkeysOf(trx, ctx.user.id)).length >= PASSKEYS_MAX)
      throw refused(text('At most {{most}} passkeys'), { most: PASSKEYS_MAX });
    row = await trx
      .insertInto('passkey')
      .values({
        user_id: ctx.user.id,
        credential_id: credential.id,
        public_key: Buffer.from(credential.publicKey),
        counter: BigInt(credential.counter),
        transports: attestation.response.transports ?? [],
        name,
        synced: credentialBackedUp,
      })
      .onConflict((conflict) => conflict.column('credential_id').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!row) throw refused(text('This passkey has already been added'));
    await notifyOwner(ctx, trx, passkeyAddedMail);
  });
  if (!row) throw new Error('a transaction ended without its row');
  return { row, recoveryCodes };
}

function passkeysOf(db: Db, userId: number) {
  return db.selectFrom('passkey').select(['credential_id', 'transports']).where('user_id', '=', userId).execute();
}

/** The user handle that passkeys store (WebAuthn); created with the first passkey. */
async function userHandleOf(db: Db, userId: number): Promise<Buffer> {
  const { passkey_handle } = await db
    .updateTable('app_user')
    .set({ passkey_handle: sql<Buffer>`coalesce(passkey_handle, ${randomBytes(32)})` })
    .where('id', '=', userId)
    .returning('passkey_handle')
    .executeTakeFirstOrThrow();
  if (!passkey_handle) throw new Error('an update left its value empty');
  return passkey_handle;
}

/** Passkeys belong to the host that browsers see, and are good on its very origin alone. */
function siteOf({ appOrigin }: Config): { id: string; origin: string } {
  return { id: new URL(appOrigin).hostname, origin: appOrigin };
}
