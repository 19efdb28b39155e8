import { text } from '@stagi/contract/text.ts';
import type { Config } from '../config/config.ts';
import { refused } from '../http/errors.ts';

/** Refuses everything about passwords where the operator has switched them off (`PASSWORD_SIGN_IN`). */
export function requirePasswords({ config }: { config: Pick<Config, 'identityProviders'> }): void {
  if (config.identityProviders.isPasswordOff)
    throw refused(text('Nobody logs in with a password here. Choose another way to log in.'));
}
