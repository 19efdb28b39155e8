import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { Plan } from '@stagi/contract/user.ts';
import type { ListAddress } from '../../layouts/listAddress.ts';

export const VERIFIED = 'verified';
export const STAFF = 'staff';
export const PLAN = 'plan';
export const USER_FILTERS = [VERIFIED, STAFF] as const;
export const WORKSPACE_FILTERS = [PLAN] as const;

export const PLANS: readonly Plan[] = ['Free', 'Individual', 'Team', 'Enterprise'];
const isPlan = (word: string): word is Plan => (PLANS as readonly string[]).includes(word);

export const SEPARATOR = ',';

/** What an address of the list of users asks for. */
export function usersInput({ request, filter }: ListAddress): InputOf<typeof api.adminUsers.list> {
  return {
    entityFilterRequest: request,
    verified: yesOrNo(filter(VERIFIED)),
    employee: yesOrNo(filter(STAFF)),
  };
}

/** What an address of the list of workspaces asks for. */
export function workspacesInput(address: ListAddress): InputOf<typeof api.adminClients.list> {
  const plans = plansOf(address);
  return { entityFilterRequest: address.request, plans: plans.length > 0 ? plans : undefined };
}

export const plansOf = ({ filter }: ListAddress): Plan[] => filter(PLAN).split(SEPARATOR).filter(isPlan);

function yesOrNo(value: string): boolean | undefined {
  return value === 'yes' ? true : value === 'no' ? false : undefined;
}
