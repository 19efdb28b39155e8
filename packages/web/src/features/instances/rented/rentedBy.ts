import type { Instance } from '@stagi/contract/instances.ts';
import type { T } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';

/** Who rented a server, or that an operator adopted it. */
export const rentedBy = (t: T, { createdBy }: Instance): string =>
  createdBy === null ? t('Adopted by an operator') : personName(t, createdBy);
