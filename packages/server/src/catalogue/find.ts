import type { Model, ModelRef } from '@stagi/contract/models.ts';
import type { Context } from '../context.ts';
import { notFound } from '../http/errors.ts';
import { type CatalogueEntry, cardOf, readCatalogue } from './catalogue.ts';

/** The model of a reference; 404 if the catalogue does not have it. */
export async function findModel(ctx: Pick<Context, 'db' | 'log'>, ref: ModelRef): Promise<CatalogueEntry> {
  const found = findIn(await readCatalogue(ctx), ref);
  if (!found) throw notFound();
  return found;
}

export function findIn(catalogue: readonly CatalogueEntry[], ref: ModelRef): CatalogueEntry | undefined {
  return catalogue.find(({ name, entry }) => ('id' in ref ? entry.id === ref.id : name === ref.name));
}

export function presentModel(found: CatalogueEntry): Model {
  return { ...cardOf(found), entry: found.entry, files: found.files, change: found.change };
}
