import { startAuthentication, WebAuthnAbortService } from '@simplewebauthn/browser';
import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { hasPasskeys, logPasskeyFailure } from '../../api/passkeys.ts';

/** A challenge expires after five minutes. */
const RENEW_MS = 4 * 60_000;

/**
 * Conditional mediation: waits for a passkey that the person picks from the autofill of a field with
 * `autocomplete="… webauthn"`. Null without browser support, on failure, or once `signal` aborts. `ask` fetches a challenge.
 */
export async function suggestedPasskey(
  ask: () => Promise<{ options: PasskeyRequest }>,
  signal: AbortSignal,
): Promise<PasskeyAssertion | null> {
  if (!(await canSuggest())) return null;
  while (!signal.aborted) {
    await untilVisible(signal);
    const { options } = await ask();
    const late = AbortSignal.timeout(RENEW_MS);
    const assertion = await suggest(options, AbortSignal.any([signal, late]));
    if (assertion || !late.aborted) return assertion;
  }
  return null;
}

const canSuggest = async (): Promise<boolean> =>
  hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;

async function suggest(options: PasskeyRequest, ended: AbortSignal): Promise<PasskeyAssertion | null> {
  if (ended.aborted) return null;
  const stop = () => WebAuthnAbortService.cancelCeremony();
  ended.addEventListener('abort', stop, { once: true });
  return startAuthentication({ optionsJSON: options, useBrowserAutofill: true })
    .catch((cause: unknown) => (ended.aborted ? null : logPasskeyFailure(cause)))
    .finally(() => ended.removeEventListener('abort', stop));
}

/** Hidden tabs fetch no challenge. */
function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve();
  return new Promise((resolve) => {
    const seen = new AbortController();
    const done = () => {
      seen.abort();
      resolve();
    };
    document.addEventListener('visibilitychange', done, { signal: seen.signal });
    signal.addEventListener('abort', done, { signal: seen.signal });
  });
}
