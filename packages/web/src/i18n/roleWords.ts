import type { Role } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';

/** What each role is for, for whoever chooses one. */
export const ROLE_WORDS: Record<Role, string> = {
  Owner: text('Everything, including payouts and other owners'),
  Admin: text('Everything but payouts and owners'),
  Developer: text('Servers, containers, projects and own SSH keys; no money and no members'),
  Billing: text('Balance, transactions and plan; nothing that runs'),
  Guest: text('Sees the workspace and its balance'),
};
