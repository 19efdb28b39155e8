import type { Permission } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';

/** What each permission lets one do, in the order that people choose among them. */
export const PERMISSION_WORDS: Record<Permission, string> = {
  BASIC_ACTIONS: text('See the workspace and its balance'),
  INSTANCE_RENTED: text('See rented instances'),
  INSTANCE_RENTED_MANAGEMENT: text('Rent and manage instances, their containers and logs'),
  SELFHOSTED_INSTANCE: text('See self-hosted instances'),
  SELFHOSTED_INSTANCE_MANAGEMENT: text('Attach and manage self-hosted instances, their containers and logs'),
  PROJECT: text('See projects'),
  PROJECT_MANAGEMENT: text('Manage projects'),
  RUNNING_TASKS: text('Run tasks'),
  SSH_KEY_MANAGEMENT: text('Add and delete own SSH keys'),
  BILLING: text('See transactions, deposit, change the plan'),
  INVITE_USERS_TO_CLIENT: text('Invite and manage members'),
  CLIENT_MANAGEMENT: text('Manage the workspace itself'),
  CLIENT_SUPERADMIN: text('Own the workspace: withdraw money, make others owners'),
  EMPLOYEE: text('Operate the platform'),
};
