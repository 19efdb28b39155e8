import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { ListAddress } from '../../layouts/listAddress.ts';
import { RANGE } from '../../layouts/useRange.ts';
import type { Sort } from '../../ui/DataTable.tsx';

export const FILTERS = [RANGE] as const;
export const NEWEST: Sort = { field: 'from', direction: 'desc' };

/** What an address of the list asks for, but for the stretch of time. */
export const usageInput = ({ request }: ListAddress): InputOf<typeof api.usage.list> => ({
  entityFilterRequest: request,
});
