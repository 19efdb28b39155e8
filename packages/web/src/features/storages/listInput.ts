import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { StorageKind } from '@stagi/contract/storageRules.ts';
import { knownValues, type ListAddress } from '../../lists/listAddress.ts';

export const KIND_FILTER = 'kind';
const KINDS: readonly StorageKind[] = ['storage', 'log'];

/** The input of the call from the address of the list. */
export function storagesInput(address: ListAddress): InputOf<typeof api.storages.list> {
  return { entityFilterRequest: address.request, kind: kindOf(address) };
}

/** Undefined: both kinds. */
export const kindOf = ({ filter }: ListAddress): StorageKind | undefined =>
  knownValues([filter(KIND_FILTER)], KINDS)[0];
