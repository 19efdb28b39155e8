import { text } from './text.ts';
/** The name of a deleted account; screens translate it. */
export const DELETED_USER = text('Deleted user');
