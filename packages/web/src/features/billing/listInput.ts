import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { TransactionType } from '@stagi/contract/transactions.ts';
import { knownValues, type ListAddress } from '../../lists/listAddress.ts';
import { RANGE_FILTER } from '../../lists/useRange.ts';

export const TYPE_FILTER = 'type';
export const FILTERS = [RANGE_FILTER, TYPE_FILTER] as const;
export const TYPES: readonly TransactionType[] = ['Deposit', 'Spending', 'Exchange', 'Withdrawal'];

/** The input of the call from the address of the list, without the time range. */
export function transactionsInput(address: ListAddress): InputOf<typeof api.transactions.list> {
  const { page, limit, orderByField, orderByDirection } = address.request;
  const types = typesOf(address);
  return {
    entityFilterRequest: { page, limit, orderByField, orderByDirection },
    ...(types.length > 0 && { types }),
  };
}

export const typesOf = ({ values }: ListAddress): TransactionType[] => knownValues(values(TYPE_FILTER), TYPES);
