import { startAuthentication, WebAuthnAbortService } from '@simplewebauthn/browser';
import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { hasPasskeys, turnedDown } from '../../api/passkeys.ts';

/** A challenge holds five minutes. */
const RENEW_MS = 4 * 60_000;

/**
 * The answer of a passkey that the person picks among the suggestions of the field that says `autocomplete="… webauthn"`;
 * null where the browser makes none, when nothing came of it, or once they have `left`. `ask` fetches a challenge.
 */
export async function suggestedPasskey(
  ask: () => Promise<{ options: PasskeyRequest }>,
  left: AbortSignal,
): Promise<PasskeyAssertion | null> {
  if (!(await canSuggest())) return null;
  while (!left.aborted) {
    await beingSeen(left);
    const { options } = await ask();
    const late = AbortSignal.timeout(RENEW_MS);
    const assertion = await suggest(options, AbortSignal.any([left, late]));
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
    .catch((cause: unknown) => (ended.aborted ? null : turnedDown(cause)))
    .finally(() => ended.removeEventListener('abort', stop));
}

/** A tab that nobody looks at asks for nothing. */
function beingSeen(left: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve();
  return new Promise((resolve) => {
    const seen = new AbortController();
    const done = () => {
      seen.abort();
      resolve();
    };
    document.addEventListener('visibilitychange', done, { signal: seen.signal });
    left.addEventListener('abort', done, { signal: seen.signal });
  });
}
