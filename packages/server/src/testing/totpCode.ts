import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app with this key shows; the key may contain spaces. */
export const totpCode = (key: string, at = Date.now()): string =>
  TOTP.generate({ secret: Secret.fromBase32(key.replaceAll(' ', '')), timestamp: at });
