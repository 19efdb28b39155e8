import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { FIT_CONTEXT, type ModelCard } from '@stagi/contract/models.ts';
import { text } from '@stagi/contract/text.ts';
import type { CatalogueModel, Gpu } from '@stagi/perf/catalogue.ts';
import { gpus } from '@stagi/perf/catalogueFiles.ts';
import { engineOf } from '@stagi/perf/leastGpus.ts';
import { fits } from '@stagi/perf/memory.ts';
import { invalid } from '../http/errors.ts';
import { offsetOf, pageOf } from '../http/paging.ts';
import { type CatalogueEntry, cardOf } from './catalogue.ts';
import { holdEveryWord } from './words.ts';

type Input = ParsedInputOf<typeof api.models.list>;

/** One page of the models that pass the filters. */
export function listModels(catalogue: readonly CatalogueEntry[], { filters, entityFilterRequest: request }: Input) {
  const gpu = filters.gpu === undefined ? undefined : gpuById(filters.gpu, 'filters.gpu');
  const found = catalogue
    .filter(({ entry }) => passes(entry, filters) && matches(entry, request.queryString))
    .filter((one) => passesFiles(one, filters, gpu))
    .map(cardOf)
    .toSorted((a, b) => compare(a, b, request));
  return pageOf(found.slice(offsetOf(request), offsetOf(request) + request.limit), found.length, request);
}

/** What the list can be filtered by; models without a licence or publisher are under none. */
export function facetsOf(catalogue: readonly CatalogueEntry[]) {
  const entries = catalogue.map(({ entry }) => entry);
  return {
    isSuccess: true as const,
    total: entries.length,
    tasks: counted(entries.map(({ task }) => task)),
    publishers: counted(entries.map(({ publisher }) => publisher)),
    licences: counted(entries.flatMap(({ licence }) => licence ?? [])),
    gpus: gpus.map(({ id, name, memoryGb }) => ({ id, name, memoryGb })),
  };
}

export function gpuById(id: string, field: string): Gpu {
  const gpu = gpus.find((known) => known.id === id);
  if (!gpu) throw invalid(text('This GPU is not in the catalogue'), field);
  return gpu;
}

function passes(model: CatalogueModel, filters: Input['filters']): boolean {
  const { tasks, publishers, licences, minParameters = 0, maxParameters = Infinity, minContext = 0 } = filters;
  const { total } = model.parameters;
  if (tasks?.length && !tasks.includes(model.task)) return false;
  if (publishers?.length && !publishers.includes(model.publisher)) return false;
  if (licences?.length && !licences.includes(model.licence ?? '')) return false;
  if (total < minParameters || total > maxParameters) return false;
  return minContext === 0 || (model.contextLength ?? 0) >= minContext;
}

/** Files of the quality, and with a GPU one of them that fits it. */
function passesFiles({ entry, files }: CatalogueEntry, filters: Input['filters'], gpu: Gpu | undefined): boolean {
  const { quality, gpuCount } = filters;
  const asked = quality === undefined ? files : files.filter((file) => file.quality === quality);
  if (!gpu) return quality === undefined || asked.length > 0;
  const context = Math.min(FIT_CONTEXT, entry.contextLength ?? FIT_CONTEXT);
  return asked.some(
    (file) =>
      fits({ model: entry, gpu, count: gpuCount, precision: file.precision, engine: engineOf(file), context, batch: 1 })
        .fits,
  );
}

const matches = ({ id, name, publisher, task, licence = '' }: CatalogueModel, asked: string | undefined): boolean =>
  holdEveryWord([id, name, publisher, task, licence], asked);

const SORT_KEYS: Record<Input['entityFilterRequest']['orderByField'], (model: ModelCard) => string | number> = {
  name: ({ title }) => title.toLowerCase(),
  releasedAt: ({ releasedAt }) => releasedAt ?? '',
  parameters: ({ parameters }) => parameters.total,
  contextLength: ({ contextLength }) => contextLength ?? 0,
};

/** Among equals by name, which is unique. */
function compare(a: ModelCard, b: ModelCard, request: Input['entityFilterRequest']): number {
  const key = SORT_KEYS[request.orderByField];
  const order = key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
  return order * (request.orderByDirection === 'asc' ? 1 : -1) || (a.name < b.name ? -1 : 1);
}

function counted<T extends string>(values: readonly T[]): { value: T; count: number }[] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
