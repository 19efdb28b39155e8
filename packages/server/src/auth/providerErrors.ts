import { type IdentityProvider, PROVIDER_NAMES } from '@stagi/contract/identityProviders.ts';
import type { Context } from '../context.ts';
import { type PublicError, refused } from '../http/errors.ts';

/** Refusals of logging in through somebody else; why exactly is for the log, not for who may be forging. */

export const missing = (provider: IdentityProvider): PublicError =>
  refused('Logging in with {{provider}} is not set up here', { provider: PROVIDER_NAMES[provider] });

export function silent({ log }: Pick<Context, 'log'>, provider: IdentityProvider, cause: unknown): PublicError {
  log.warn({ err: cause, provider }, 'an identity provider cannot be reached');
  return refused('{{provider}} does not answer at the moment. Try again, or log in another way.', {
    provider: PROVIDER_NAMES[provider],
  });
}

export function unproven({ log }: Pick<Context, 'log'>, provider: IdentityProvider, cause: unknown): PublicError {
  log.warn({ err: cause, provider }, 'a login through an identity provider was refused');
  return refused('{{provider}} did not confirm this login. Try again.', { provider: PROVIDER_NAMES[provider] });
}
