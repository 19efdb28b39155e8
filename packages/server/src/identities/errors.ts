import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { text } from '@stagi/contract/text.ts';
import { nameOfProvider } from '../config/identityProviders.ts';
import type { Context } from '../context.ts';
import { type PublicError, refused } from '../http/errors.ts';

/** Errors of signing in through a provider. The exact reason goes to the log only: the caller may be forging. */

export const notConfigured = ({ config }: Pick<Context, 'config'>, provider: IdentityProvider): PublicError =>
  refused(text('Logging in with {{provider}} is not set up here'), {
    provider: nameOfProvider(config.identityProviders, provider),
  });

export function unreachable(
  { config, log }: Pick<Context, 'config' | 'log'>,
  provider: IdentityProvider,
  cause: unknown,
): PublicError {
  log.warn({ err: cause, provider }, 'an identity provider cannot be reached');
  return refused(text('{{provider}} is not responding. Try again, or log in another way.'), {
    provider: nameOfProvider(config.identityProviders, provider),
  });
}

export function rejectedCallback(
  { config, log }: Pick<Context, 'config' | 'log'>,
  provider: IdentityProvider,
  cause: unknown,
): PublicError {
  log.warn({ err: cause, provider }, 'a login through an identity provider was refused');
  return refused(text('{{provider}} did not confirm this login. Try again.'), {
    provider: nameOfProvider(config.identityProviders, provider),
  });
}
