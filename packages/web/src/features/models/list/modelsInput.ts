import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { QUALITIES, type Quality } from '@stagi/perf/quality.ts';
import { knownValues, type ListAddress } from '../../../lists/listAddress.ts';
import type { Sort } from '../../../ui/table/tableTypes.ts';
import { TASKS, type Task } from '../modelWords.ts';

type Input = InputOf<typeof api.models.list>;

export const NEWEST: Sort = { field: 'releasedAt', direction: 'desc' };

/** Rows of cards are of 1, 2, 3 or 4. */
export const PAGE_SIZE = 24;

/** The filters of models, by their names in the address. */
export const MODEL_FILTERS = ['task', 'publisher', 'size', 'context', 'licence', 'gpu', 'quality'] as const;

const SORTS = ['name', 'releasedAt', 'parameters', 'contextLength'] as const;

/** In billions of parameters: bounds of the sizes to choose from. An address may ask for others. */
export const SIZES = ['-4', '4-10', '10-35', '35-130', '130-'] as const;

/** In tokens. Publishers call both 128,000 and 131,072 128K. */
export const CONTEXTS = ['8192', '32768', '128000', '256000', '1000000'] as const;

export const GPU_COUNTS = [1, 2, 4, 8] as const;

/** The input of the call from the address. Values that are not understood are ignored. */
export function modelsInput(list: ListAddress): Input {
  const field = SORTS.find((name) => name === list.sort.field);
  const sort = field ? { field, direction: list.sort.direction } : NEWEST_SORT;
  const size = sizeOf(list);
  const gpu = gpuOf(list);
  return {
    filters: {
      tasks: someOf(tasksOf(list)),
      publishers: someOf(wordsOf(list, 'publisher')),
      licences: someOf(wordsOf(list, 'licence')),
      minParameters: size?.min && size.min * 1e9,
      maxParameters: size?.max && size.max * 1e9,
      minContext: contextOf(list),
      gpu: gpu?.id,
      gpuCount: gpu?.count,
      quality: qualityOf(list),
    },
    entityFilterRequest: {
      page: list.page,
      limit: PAGE_SIZE,
      queryString: list.request.queryString,
      orderByField: sort.field,
      orderByDirection: sort.direction,
    },
  };
}

const NEWEST_SORT = { field: 'releasedAt', direction: 'desc' } as const;

export const tasksOf = (list: ListAddress): Task[] => knownValues(list.values('task'), TASKS);

const wordsOf = (list: ListAddress, name: 'publisher' | 'licence'): string[] =>
  list.values(name).slice(0, 50).map(unescaped);

/** A name of the catalogue in a filter of several: a comma in it is escaped, as it separates them. */
export const escaped = (word: string): string => word.replaceAll('%', '%25').replaceAll(',', '%2C');
export const unescaped = (word: string): string => word.replaceAll('%2C', ',').replaceAll('%25', '%');

/** In billions; a bound that is missing is open. */
export function sizeOf(list: Pick<ListAddress, 'filter'>): { min?: number; max?: number } | null {
  const match = /^(\d{1,6})?-(\d{1,6})?$/.exec(list.filter('size'));
  if (!match || (!match[1] && !match[2])) return null;
  return { min: match[1] ? Number(match[1]) : undefined, max: match[2] ? Number(match[2]) : undefined };
}

export function contextOf(list: Pick<ListAddress, 'filter'>): number | undefined {
  const value = list.filter('context');
  return /^[1-9]\d{0,9}$/.test(value) ? Number(value) : undefined;
}

/** `h100-sxm` is one GPU, `h100-sxm.4` are four. */
export function gpuOf(list: Pick<ListAddress, 'filter'>): { id: string; count: number } | null {
  const match = /^([a-z0-9-]{1,60})(?:\.([248]))?$/.exec(list.filter('gpu'));
  return match?.[1] ? { id: match[1], count: Number(match[2] ?? 1) } : null;
}

export const gpuFilter = ({ id, count }: { id: string; count: number }): string =>
  count === 1 ? id : `${id}.${count}`;

export const qualityOf = (list: Pick<ListAddress, 'filter'>): Quality | undefined =>
  QUALITIES.find((quality) => quality === list.filter('quality'));

function someOf<Word>(words: Word[]): Word[] | undefined {
  return words.length > 0 ? words : undefined;
}
