import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { among, type ListAddress } from '../../lists/listAddress.ts';

export const ROLE = 'role';
export const FILTERS = [ROLE] as const;

/** The input of the calls from the address of the list of members or of join links. */
export function roleListInput(
  address: ListAddress,
): InputOf<typeof api.clients.members> & InputOf<typeof api.invites.list> {
  const roles = rolesOf(address);
  return { entityFilterRequest: address.request, roles: roles.length > 0 ? roles : undefined };
}

export const rolesOf = ({ values }: ListAddress): Role[] => among(values(ROLE), ROLES);
