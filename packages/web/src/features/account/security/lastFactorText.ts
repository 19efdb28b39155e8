import { site } from '../../../api/site.ts';
import type { T } from '../../../i18n/i18n.ts';

/** The effect of removing the only second factor. */
export const lastFactorText = (t: T): string =>
  site().isPasswordOff
    ? t('You will no longer be asked for a second factor, and your recovery codes will stop working.')
    : t('Your password alone will be enough to log in, and your recovery codes will stop working.');
