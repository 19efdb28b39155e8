import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import { knownValues, type ListAddress } from '../../lists/listAddress.ts';

export const ROLE_FILTER = 'role';
export const FILTERS = [ROLE_FILTER] as const;

/** The input of the calls from the address of the list of members or of join links. */
export function roleListInput(
  address: ListAddress,
): InputOf<typeof api.clients.members> & InputOf<typeof api.invites.list> {
  const roles = rolesOf(address);
  return { entityFilterRequest: address.request, roles: roles.length > 0 ? roles : undefined };
}

export const rolesOf = ({ values }: ListAddress): Role[] => knownValues(values(ROLE_FILTER), ROLES);
