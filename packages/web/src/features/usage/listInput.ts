import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { ListAddress } from '../../lists/listAddress.ts';
import { RANGE_FILTER } from '../../lists/useRange.ts';
import type { Sort } from '../../ui/table/tableTypes.ts';

export const FILTERS = [RANGE_FILTER] as const;
export const LATEST_START_FIRST: Sort = { field: 'from', direction: 'desc' };

/** The input of the call from the address of the list, without the time range. */
export const usageInput = ({ request }: ListAddress): InputOf<typeof api.usage.list> => ({
  entityFilterRequest: request,
});
