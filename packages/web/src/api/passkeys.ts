import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreation,
  PasskeyRequest,
} from '@stagi/contract/passkeys.ts';

/** Whether this browser can have passkeys; plain http on another host than localhost has none. */
export const hasPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/** The answer of a passkey that the person chose; null when none came of it, by their wish or the browser's. */
export async function answerWithPasskey(options: PasskeyRequest): Promise<PasskeyAssertion | null> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return startAuthentication({ optionsJSON: options }).catch(turnedDown);
}

/** A new passkey; null when none came of it. `known`: the device has one of this account already. */
export async function makePasskey(options: PasskeyCreation): Promise<PasskeyAttestation | 'known' | null> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return startRegistration({ optionsJSON: options }).catch((cause: unknown) =>
    cause instanceof Error && cause.name === 'InvalidStateError' ? 'known' : turnedDown(cause),
  );
}

/** Browsers do not tell why: closed, timed out, no such key or not allowed here all look alike. */
export function turnedDown(cause: unknown): null {
  console.warn('No passkey was used', cause);
  return null;
}
