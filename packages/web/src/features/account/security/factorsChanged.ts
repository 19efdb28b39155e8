import { invalidate } from '../../../api/query.ts';

/** The page reads anew what there is. */
export function factorsChanged(): void {
  void invalidate('auth/second-factor/', 'auth/passkey/');
}
