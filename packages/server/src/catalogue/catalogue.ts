import type { Model } from '@stagi/contract/models.ts';
import { CatalogueModel, type Sources } from '@stagi/perf/catalogue.ts';
import { models as builtIn } from '@stagi/perf/catalogueFiles.ts';
import { filesOf, type PublishedFile, QUALITIES } from '@stagi/perf/quality.ts';
import type { z } from 'zod';
import type { Context } from '../context.ts';

type Reading = Pick<Context, 'db' | 'log'>;

/** A model of the catalogue: a checked-in one, or what the operators made of it. */
export interface CatalogueEntry {
  /** In its address. */
  name: string;
  entry: CatalogueModel;
  files: PublishedFile[];
  change: Model['change'];
}

interface Change {
  model_id: string;
  kind: 'added' | 'changed' | 'hidden';
  fields: Record<string, unknown>;
  source: z.infer<typeof Sources>;
  updated_at: Date;
}

/** `meta-llama/Llama-3.1-8B-Instruct` is `llama-3.1-8b-instruct`. */
export const nameOf = (modelId: string): string =>
  modelId
    .slice(modelId.indexOf('/') + 1)
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-');

/** All models of a platform whose operators changed nothing. */
export const builtInCatalogue = (): CatalogueEntry[] => builtIn.map(asBuilt);

/** All models that are shown: the checked-in ones with the changes of operators, and those that operators added. */
export async function readCatalogue({ db, log }: Reading): Promise<CatalogueEntry[]> {
  const changes: Change[] = await db
    .selectFrom('catalogue_change')
    .select(['model_id', 'kind', 'fields', 'source', 'updated_at'])
    .orderBy('model_id')
    .execute();
  const changeOf = new Map(changes.map((change) => [change.model_id, change]));
  const shipped = builtIn.flatMap((model) => {
    const change = changeOf.get(model.id);
    if (change?.kind === 'hidden') return [];
    return [change?.kind === 'changed' ? changed(log, model, change) : asBuilt(model)];
  });
  const added = changes.flatMap((change) => (change.kind === 'added' ? addedBy(log, change) : []));
  return [...shipped, ...added];
}

const entries = new Map<string, CatalogueEntry>();

/** The checked-in entries never change while the platform runs. */
function asBuilt(model: CatalogueModel): CatalogueEntry {
  const known = entries.get(model.id);
  if (known) return known;
  const entry = { name: nameOf(model.id), entry: model, files: filesOf(model), change: null };
  entries.set(model.id, entry);
  return entry;
}

/** A release may change the checked-in entry so that a change no longer fits it: then the entry counts. */
function changed(log: Reading['log'], model: CatalogueModel, change: Change): CatalogueEntry {
  const parsed = CatalogueModel.safeParse(mergedEntry(model, change.fields));
  if (parsed.success) return present(parsed.data, change);
  log.warn({ model: model.id, err: parsed.error }, 'an operator’s change no longer fits its catalogue entry');
  return asBuilt(model);
}

/** The entry with its changed fields. `null` takes a field away: it is not known, or not so for this model. */
export function mergedEntry(model: CatalogueModel, fields: Record<string, unknown>): unknown {
  return Object.fromEntries(Object.entries({ ...model, ...fields }).filter(([, value]) => value !== null));
}

/** An added entry; its repository and source are columns of its row. */
export const addedEntry = ({ model_id, fields, source }: Pick<Change, 'model_id' | 'fields' | 'source'>): unknown => ({
  ...fields,
  id: model_id,
  source,
});

/** Where a release brings the same model, that entry counts: it is listed once. */
function addedBy(log: Reading['log'], change: Change): CatalogueEntry[] {
  if (builtIn.some(({ id }) => id === change.model_id)) return [];
  const parsed = CatalogueModel.safeParse(addedEntry(change));
  if (parsed.success) return [present(parsed.data, change)];
  log.warn({ model: change.model_id, err: parsed.error }, 'an operator’s catalogue entry is not valid any more');
  return [];
}

function present(entry: CatalogueModel, { kind, fields, source, updated_at }: Change): CatalogueEntry {
  return {
    name: nameOf(entry.id),
    entry,
    files: filesOf(entry),
    change: {
      kind: kind === 'added' ? 'added' : 'changed',
      fields: Object.keys(fields).toSorted(),
      source,
      changedAt: updated_at.toISOString(),
    },
  };
}

/** The shape of lists. */
export function cardOf({ name, entry, files }: CatalogueEntry) {
  return {
    name,
    id: entry.id,
    title: entry.name,
    publisher: entry.publisher,
    task: entry.task,
    licence: entry.licence ?? null,
    parameters: { total: entry.parameters.total, active: entry.parameters.active ?? null },
    contextLength: entry.contextLength ?? null,
    releasedAt: entry.releasedAt ?? null,
    qualities: QUALITIES.filter((quality) => files.some((file) => file.quality === quality)),
  };
}
