import type { InputOf } from '@stagi/contract/call.ts';
import type { hardware } from '@stagi/contract/hardware.ts';
import type { ListAddress } from '../../lists/listAddress.ts';
import type { Sort } from '../../ui/table/tableTypes.ts';

export const CHEAPEST: Sort = { field: 'price', direction: 'asc' };

/** The filters of offers, by their names in the address. */
export const OFFER_FILTERS = ['provider', 'gpu', 'cores', 'ram'] as const;

const FIELDS = ['price', 'cores', 'ram', 'gpu'] as const;
const GPU = ['any', 'with', 'without'] as const;

/** The input of the call from the address. Values that are not understood are ignored. */
export function offersInput(list: ListAddress): InputOf<typeof hardware.offers> {
  const field = FIELDS.find((name) => name === list.sort.field);
  const sort = field ? { ...list.sort, field } : { field: 'price' as const, direction: 'asc' as const };
  return {
    filters: {
      providers: chosenProviders(list).length > 0 ? chosenProviders(list) : undefined,
      minCores: atLeast(list.filter('cores')),
      minRamGb: atLeast(list.filter('ram')),
      gpu: GPU.find((name) => name === list.filter('gpu')) ?? 'any',
    },
    entityFilterRequest: {
      page: list.page,
      limit: list.request.limit,
      queryString: list.request.queryString,
      orderByField: sort.field,
      orderByDirection: sort.direction,
    },
  };
}

export function chosenProviders(list: ListAddress): string[] {
  return list.values('provider').slice(0, 20);
}

function atLeast(value: string): number | undefined {
  return /^[1-9]\d{0,4}$/.test(value) ? Number(value) : undefined;
}
