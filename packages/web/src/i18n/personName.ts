import { DELETED_USER } from '@stagi/contract/deletedUser.ts';
import type { T } from './i18n.ts';

/** Somebody's name as the reader is to see it. */
export const personName = (t: T, name: string): string => (name === DELETED_USER ? t('Deleted user') : name);
