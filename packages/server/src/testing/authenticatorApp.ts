import { Secret, TOTP } from 'otpauth';

/** What an authenticator app with this key shows at a time; keys are read with or without spaces. */
export const codeOfApp = (key: string, at = Date.now()): string =>
  TOTP.generate({ secret: Secret.fromBase32(key.replaceAll(' ', '')), timestamp: at });
