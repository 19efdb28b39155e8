import type { EntityFilterRequest } from '@stagi/contract/page.ts';

type Entity = Record<string, unknown>;
interface ListInput {
  entityFilterRequest: Partial<EntityFilterRequest>;
  [filter: string]: unknown;
}

export const isListInput = (input: object): input is ListInput => 'entityFilterRequest' in input;

/** The page that is asked for, of a list that was recorded whole. */
export function pageOfList(body: object, recorded: object, input: ListInput): object {
  const { entities } = body as { entities: Entity[] };
  const { queryString = '', statuses, page = 1, limit = 10, ...order } = input.entityFilterRequest;
  const found = entities
    .filter((entity) => holds(entity, queryString))
    .filter(({ status }) => !statuses || statuses.includes(String(status)))
    .filter((entity) => Object.entries(input).every(([name, value]) => passes(entity, name, value)));
  const before = isListInput(recorded) ? recorded.entityFilterRequest : {};
  const sorted = inOrder(found, order, before);
  return {
    ...body,
    entities: sorted.slice((page - 1) * limit, page * limit),
    totalCount: found.length,
    totalPages: Math.max(1, Math.ceil(found.length / limit)),
  };
}

/** Whether a name, or another text of it that people search by, contains the text. */
function holds(entity: Entity, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return wanted === '' || wordsOf(entity).some((word) => word.toLowerCase().includes(wanted));
}

const SEARCHED = [
  'title',
  'name',
  'slug',
  'email',
  'description',
  'provider',
  'region',
  'commit',
  'message',
  'resource',
  'gpu',
  'cpu',
  'actor',
  'object',
  'label',
];

function wordsOf(entity: Entity): string[] {
  return SEARCHED.flatMap((field) => {
    const value = entity[field];
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? wordsOf(value as Entity) : [];
  });
}

/** Filters of the lists' own. One that is not known lets everything through. */
function passes(entity: Entity, name: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  switch (name) {
    case 'types':
      return (value as unknown[]).includes(entity.type);
    case 'favorites':
      return value === false || entity.favorite === true;
    case 'from':
      return timeOf(entity) >= Date.parse(String(value));
    case 'to':
      return timeOf(entity) <= Date.parse(String(value));
    case 'filters':
      return Object.entries(value as object).every(
        ([filter, wanted]) => wanted === undefined || isAmong(entity, filter, wanted),
      );
    default:
      return true;
  }
}

/** The filters of the marketplace and of the catalogue. */
function isAmong(entity: Entity, filter: string, wanted: unknown): boolean {
  const words = wanted as unknown[];
  const { cores } = (entity.cpu ?? {}) as { cores?: number };
  const { total } = (entity.parameters ?? {}) as { total?: number };
  switch (filter) {
    case 'gpu':
      return 'cpu' in entity ? wanted === 'any' || (wanted === 'with') === (entity.gpu !== null) : true;
    case 'providers':
      return words.length === 0 || words.includes(entity.provider);
    case 'minCores':
      return Number(cores) >= Number(wanted);
    case 'minRamGb':
      return Number(entity.ramGb) >= Number(wanted);
    case 'tasks':
      return words.includes(entity.task);
    case 'publishers':
      return words.includes(entity.publisher);
    case 'licences':
      return words.includes(entity.licence);
    case 'minParameters':
      return Number(total) >= Number(wanted);
    case 'maxParameters':
      return Number(total) <= Number(wanted);
    case 'minContext':
      return Number(entity.contextLength) >= Number(wanted);
    case 'quality':
      return (entity.qualities as unknown[]).includes(wanted);
    default:
      return true;
  }
}

const timeOf = ({ at, createdAt, from }: Entity): number => Date.parse(String(at ?? createdAt ?? from));

type Order = Pick<Partial<EntityFilterRequest>, 'orderByField' | 'orderByDirection'>;

/** What is asked for as at the recording stays as the platform has sorted it. */
function inOrder(entities: Entity[], asked: Order, recorded: Order): Entity[] {
  const { orderByField: field = recorded.orderByField, orderByDirection: direction = recorded.orderByDirection } =
    asked;
  if (field === recorded.orderByField)
    return direction === recorded.orderByDirection ? entities : entities.toReversed();
  const sign = direction === 'asc' ? 1 : -1;
  return entities.toSorted((a, b) => sign * compared(sortedBy(a, field ?? ''), sortedBy(b, field ?? '')));
}

const compared = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });

/** Amounts are objects with a decimal; some fields have another name in an answer than in a request. */
function sortedBy(entity: Entity, field: string): string | number {
  const aliases: Record<string, unknown> = {
    price: entity.pricePerHour,
    cores: (entity.cpu as Entity | undefined)?.cores,
    ram: entity.ramGb,
    gpu: (entity.gpu as Entity | undefined)?.name ?? '',
    ...entity,
  };
  const value = field === 'gpu' ? ((entity.gpu as Entity | null)?.name ?? '') : aliases[field];
  if (typeof value === 'object' && value !== null) {
    const { decimalValue, title, name, displayValue } = value as Entity;
    if (decimalValue !== undefined) return Number(decimalValue);
    return String(title ?? name ?? displayValue ?? '');
  }
  return typeof value === 'number' ? value : String(value ?? '');
}
