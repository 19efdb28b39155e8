import type { Permission } from '@stagi/contract/permissions.ts';
import { text } from '../i18n/text.ts';

/** Those that are never given away. */
type Kept = 'EMPLOYEE' | 'CLIENT_SUPERADMIN' | 'INVITE_USERS_TO_CLIENT';

/** What somebody who holds a permission can do, to be said to who is asked to give it away. */
export const PERMISSION_WORDS: Record<Exclude<Permission, Kept>, string> = {
  BASIC_ACTIONS: text('See the workspace'),
  INSTANCE_RENTED: text('See rented instances'),
  INSTANCE_RENTED_MANAGEMENT: text('Rent, use and terminate instances, containers and storages, which costs money'),
  SELFHOSTED_INSTANCE: text('See self-hosted servers'),
  SELFHOSTED_INSTANCE_MANAGEMENT: text('Add, use and remove self-hosted servers and their containers'),
  PROJECT: text('See projects'),
  PROJECT_MANAGEMENT: text('Create, change and delete projects'),
  RUNNING_TASKS: text('Run tasks'),
  SSH_KEY_MANAGEMENT: text('Add and remove SSH keys'),
  BILLING: text('See the balance, transactions and plans'),
  CLIENT_MANAGEMENT: text('Rename the workspace and read its audit log'),
};
