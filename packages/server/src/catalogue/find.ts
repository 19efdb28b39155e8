import type { Model, ModelRef } from '@stagi/contract/models.ts';
import type { Context } from '../context.ts';
import { notFound } from '../http/errors.ts';
import { type CatalogueEntry, cardOf, readCatalogue } from './catalogue.ts';

/** The model of a reference; 404 if the catalogue does not have it. */
export async function findModel(ctx: Pick<Context, 'db' | 'log'>, ref: ModelRef): Promise<CatalogueEntry> {
  const catalogue = await readCatalogue(ctx);
  const found = catalogue.find(({ name, entry }) => ('id' in ref ? entry.id === ref.id : name === ref.name));
  if (!found) throw notFound();
  return found;
}

export function presentModel(found: CatalogueEntry): Model {
  return { ...cardOf(found), entry: found.entry, files: found.files, change: found.change };
}
