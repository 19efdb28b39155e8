import { type IdentityProvider, PROVIDER_NAMES } from '@stagi/contract/identityProviders.ts';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { type PublicError, refused } from '../http/errors.ts';

/** Errors of signing in through a provider. The exact reason goes to the log only: the caller may be forging. */

export const notConfigured = (provider: IdentityProvider): PublicError =>
  refused(text('Logging in with {{provider}} is not set up here'), { provider: PROVIDER_NAMES[provider] });

export function unreachable({ log }: Pick<Context, 'log'>, provider: IdentityProvider, cause: unknown): PublicError {
  log.warn({ err: cause, provider }, 'an identity provider cannot be reached');
  return refused(text('{{provider}} is not responding. Try again, or log in another way.'), {
    provider: PROVIDER_NAMES[provider],
  });
}

export function rejectedCallback(
  { log }: Pick<Context, 'log'>,
  provider: IdentityProvider,
  cause: unknown,
): PublicError {
  log.warn({ err: cause, provider }, 'a login through an identity provider was refused');
  return refused(text('{{provider}} did not confirm this login. Try again.'), { provider: PROVIDER_NAMES[provider] });
}
