import type {
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyCreation,
  PasskeyRequest,
} from '@stagi/contract/passkeys.ts';

/** Whether this browser can have passkeys; plain http on another host than localhost has none. */
export const hasPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/** Asks for a passkey; null when the person or the browser declines. */
export async function getPasskeyAssertion(options: PasskeyRequest): Promise<PasskeyAssertion | null> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return startAuthentication({ optionsJSON: options }).catch(logPasskeyFailure);
}

/** Creates a passkey; null when the person or the browser declines. `known`: the device already has one. */
export async function createPasskey(options: PasskeyCreation): Promise<PasskeyAttestation | 'known' | null> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return startRegistration({ optionsJSON: options }).catch((cause: unknown) =>
    cause instanceof Error && cause.name === 'InvalidStateError' ? 'known' : logPasskeyFailure(cause),
  );
}

/** Browsers do not tell why: closed, timed out, no such key or not allowed here all look alike. */
export function logPasskeyFailure(cause: unknown): null {
  console.warn('No passkey was used', cause);
  return null;
}
