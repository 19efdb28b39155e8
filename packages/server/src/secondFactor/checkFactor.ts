import type { PasskeyAssertion } from '@stagi/contract/passkeys.ts';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import type { PublicError } from '../http/errors.ts';
import { invalid } from '../http/errors.ts';
import { WRONG_CODE } from '../passwords/mailedCode.ts';
import type { ChallengePurpose } from './passkeyChallenge.ts';
import { verifyPasskey } from './passkeys.ts';
import { checkRecoveryCode } from './recoveryCodes.ts';
import { checkTotp } from './totp.ts';

/** What the user submits as second factor: a code of their app, a recovery code, or the answer of a passkey. */
export interface FactorProof {
  code?: string | undefined;
  assertion?: PasskeyAssertion | undefined;
}

export interface VerifiedFactor {
  method: 'totp' | 'recovery-code' | 'passkey';
  /** Uses up the one-time code; false when another request has used it meanwhile. */
  consume(trx: Db): Promise<boolean>;
}

/** Checks a second factor of this user; `null` when it is wrong. Not to be called in a transaction: hashing takes time. */
export async function checkFactor(
  ctx: Context,
  userId: number,
  proof: FactorProof,
  asked: ChallengePurpose,
): Promise<VerifiedFactor | null> {
  if (proof.assertion) {
    const checked = await verifyPasskey(ctx, proof.assertion, asked);
    return checked?.userId === userId ? { method: 'passkey', consume: checked.consume } : null;
  }
  const code = proof.code ?? '';
  if (/^\d{6}$/.test(code)) {
    const consume = await checkTotp(ctx, userId, code);
    return consume && { method: 'totp', consume };
  }
  const consume = await checkRecoveryCode(ctx.db, userId, code);
  return consume && { method: 'recovery-code', consume };
}

/** One error for everything that can be wrong with a factor, so that it does not say which part was. */
export const wrongFactorError = ({ assertion }: FactorProof): PublicError =>
  assertion ? invalid(text('This passkey is not accepted here'), 'assertion') : invalid(WRONG_CODE, 'code');
