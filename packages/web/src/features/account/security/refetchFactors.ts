import { invalidate } from '../../../api/query.ts';

/** Reads the second factors again. */
export function refetchFactors(): void {
  void invalidate('auth/second-factor/', 'auth/passkey/');
}
