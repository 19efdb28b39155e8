import type { CatalogueRow } from '@stagi/contract/adminModels.ts';
import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { text } from '@stagi/contract/text.ts';
import { knownValues, type ListAddress } from '../../../lists/listAddress.ts';

export const STATE_FILTER = 'state';

type EntryState = CatalogueRow['state'];

export const STATE_WORDS: Record<EntryState, string> = {
  shipped: text('As shipped'),
  changed: text('Changed'),
  added: text('Added'),
  hidden: text('Hidden'),
};
export const STATES = Object.keys(STATE_WORDS) as EntryState[];

/** The input of the call from the address of the list. */
export function entriesInput(address: ListAddress): InputOf<typeof api.adminModels.list> {
  const states = statesOf(address);
  return { entityFilterRequest: address.request, states: states.length > 0 ? states : undefined };
}

export const statesOf = ({ values }: ListAddress): EntryState[] => knownValues(values(STATE_FILTER), STATES);
