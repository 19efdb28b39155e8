import type { PasskeyAssertion } from '@stagi/contract/passkeys.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import type { PublicError } from '../http/errors.ts';
import { invalid } from '../http/errors.ts';
import { WRONG_CODE } from './mailedCode.ts';
import type { Asked } from './passkeyChallenge.ts';
import { checkPasskey } from './passkeys.ts';
import { checkRecoveryCode } from './recoveryCodes.ts';
import { checkTotp } from './totp.ts';

/** What somebody shows beside their password: a code of their app or list, or the answer of a passkey. */
export interface Shown {
  code?: string | undefined;
  assertion?: PasskeyAssertion | undefined;
}

export interface Factor {
  method: 'totp' | 'recovery-code' | 'passkey';
  /** Uses up what can be used once; false when somebody else was faster. */
  spend(trx: Db): Promise<boolean>;
}

/** Whether what is shown is a factor of this person; looked at outside of any transaction, as hashing takes its time. */
export async function checkFactor(ctx: Context, userId: number, shown: Shown, asked: Asked): Promise<Factor | null> {
  if (shown.assertion) {
    const checked = await checkPasskey(ctx, shown.assertion, asked);
    return checked?.userId === userId ? { method: 'passkey', spend: checked.spend } : null;
  }
  const code = shown.code ?? '';
  if (/^\d{6}$/.test(code)) {
    const spend = await checkTotp(ctx, userId, code);
    return spend && { method: 'totp', spend };
  }
  const spend = await checkRecoveryCode(ctx.db, userId, code);
  return spend && { method: 'recovery-code', spend };
}

/** One refusal for everything that is wrong with a factor: which part it was is nobody's business. */
export const wrongFactor = ({ assertion }: Shown): PublicError =>
  assertion ? invalid('This passkey is not accepted here', 'assertion') : invalid(WRONG_CODE, 'code');
