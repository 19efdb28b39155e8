import type { Role } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';

/** What roles are called. */
export const ROLE_NAMES: Record<Role, string> = {
  Owner: text('Owner'),
  Admin: text('Admin'),
  Developer: text('Developer'),
  Billing: text('Billing'),
  Guest: text('Guest'),
};
