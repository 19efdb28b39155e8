import { ROLE_PERMISSIONS, type Role } from '@stagi/contract/permissions.ts';

/** Whether a role may invite, change and remove members at all. */
export const mayManageMembers = (role: Role): boolean => ROLE_PERMISSIONS[role].includes('INVITE_USERS_TO_CLIENT');

/** Whether a role has every permission of another: only then may it grant, change or remove it. */
export function coversRole(role: Role, other: Role): boolean {
  return ROLE_PERMISSIONS[other].every((permission) => ROLE_PERMISSIONS[role].includes(permission));
}
