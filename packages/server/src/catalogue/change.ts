import { isDeepStrictEqual } from 'node:util';
import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { text } from '@stagi/contract/text.ts';
import { CatalogueModel } from '@stagi/perf/catalogue.ts';
import { models as builtIn } from '@stagi/perf/catalogueFiles.ts';
import { contradictionOf } from '@stagi/perf/contradictions.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { badInput, conflict, invalid, notFound } from '../http/errors.ts';
import { nameOf } from './catalogue.ts';
import { type ChangeRow, shippedModel, wholeEntry } from './entries.ts';

type Fields = Record<string, unknown>;

/** Operators change the catalogue one after another: names stay unique, and nobody's change is overwritten unseen. */
export const lockCatalogue = (trx: Db) =>
  sql`select pg_advisory_xact_lock(hashtextextended('catalogue_change', 0))`.execute(trx);

/** Adds an entry. Its name, which is its address, must be free: also a hidden model keeps its own. */
export async function addEntry(
  trx: Db,
  operatorId: number,
  { modelId, fields, source, note }: ParsedInputOf<typeof api.adminModels.create>,
): Promise<void> {
  const rows = await trx.selectFrom('catalogue_change').select('model_id').execute();
  const taken = [...builtIn.map(({ id }) => id), ...rows.map(({ model_id }) => model_id)];
  if (taken.includes(modelId)) throw invalid(text('This model is in the catalogue already'), 'modelId');
  const other = taken.find((id) => nameOf(id) === nameOf(modelId));
  if (other) throw invalid(text('{{model}} has the same address in the catalogue'), 'modelId', { model: other });
  const entered = withoutNulls(fields);
  const row = {
    model_id: modelId,
    fields: { ...entered, links: entered.links ?? linksOf(modelId, fields.precisions) },
    source,
  };
  requireValid(row);
  await trx
    .insertInto('catalogue_change')
    .values({
      model_id: modelId,
      kind: 'added',
      fields: JSON.stringify(row.fields),
      source: JSON.stringify(source),
      note,
      created_by: operatorId,
    })
    .execute();
}

/** Changes fields of an entry. A change that leaves nothing different from the shipped entry is removed. */
export async function editEntry(
  trx: Db,
  operatorId: number,
  { modelId, version, fields, reset, source, note }: ParsedInputOf<typeof api.adminModels.edit>,
): Promise<void> {
  const before = await entryRow(trx, modelId);
  if ((before?.updated_at.toISOString() ?? null) !== version)
    throw conflict(text('Somebody else has changed this model meanwhile. Compare with what they entered.'));
  const shipped = shippedModel(modelId);
  if (!shipped && reset.length > 0)
    throw invalid(text('This model was not shipped: there is nothing to go back to'), 'reset');
  const changed = without({ ...before?.fields, ...nestedWithoutNulls(fields) }, reset);
  const after = { model_id: modelId, fields: shipped ? differing(shipped, changed) : withoutNulls(changed), source };
  requireValid(after);
  if (shipped && Object.keys(after.fields).length === 0 && before?.kind !== 'hidden') return removeRow(trx, modelId);
  const kind = before?.kind === 'hidden' ? 'hidden' : shipped ? 'changed' : 'added';
  await storeRow(trx, operatorId, after, kind, note);
}

/** Hides a model. What was changed in it is kept. */
export async function hideEntry(trx: Db, operatorId: number, modelId: string): Promise<void> {
  const before = await entryRow(trx, modelId);
  const row = { model_id: modelId, fields: before?.fields ?? {}, source: before?.source ?? [] };
  await storeRow(trx, operatorId, row, 'hidden', before?.note ?? '');
}

/** Shows a hidden model as it was before; one that is not hidden stays as it is. */
export async function showEntry(trx: Db, operatorId: number, modelId: string): Promise<void> {
  const before = await entryRow(trx, modelId);
  if (before?.kind !== 'hidden') return;
  const isShipped = shippedModel(modelId) !== undefined;
  if (isShipped && Object.keys(before.fields).length === 0) return removeRow(trx, modelId);
  await storeRow(trx, operatorId, before, isShipped ? 'changed' : 'added', before.note ?? '');
}

/** Removes what operators entered; 404 where they entered nothing. */
export async function removeChange(trx: Db, modelId: string): Promise<void> {
  if (!(await entryRow(trx, modelId))) throw notFound();
  await removeRow(trx, modelId);
}

async function entryRow(trx: Db, modelId: string): Promise<ChangeRow | undefined> {
  const row = await trx.selectFrom('catalogue_change').selectAll().where('model_id', '=', modelId).executeTakeFirst();
  if (!row && !shippedModel(modelId)) throw notFound();
  return row;
}

async function storeRow(
  trx: Db,
  operatorId: number,
  { model_id, fields, source }: Pick<ChangeRow, 'model_id' | 'fields' | 'source'>,
  kind: ChangeRow['kind'],
  note: string,
): Promise<void> {
  const values = { kind, fields: JSON.stringify(fields), source: JSON.stringify(source), note };
  await trx
    .insertInto('catalogue_change')
    .values({ model_id, ...values, created_by: operatorId })
    .onConflict((taken) =>
      taken.column('model_id').doUpdateSet({ ...values, updated_at: sql<Date>`clock_timestamp()` }),
    )
    .execute();
}

async function removeRow(trx: Db, modelId: string): Promise<void> {
  await trx.deleteFrom('catalogue_change').where('model_id', '=', modelId).execute();
}

/** The schema of the catalogue decides, and that its numbers do not contradict each other. */
function requireValid(row: Pick<ChangeRow, 'model_id' | 'fields' | 'source'>): void {
  const parsed = CatalogueModel.safeParse(wholeEntry(row));
  if (!parsed.success)
    throw badInput({
      ...parsed.error,
      issues: parsed.error.issues.map((issue) => ({ ...issue, path: ['fields', ...issue.path] })),
    } as typeof parsed.error);
  const contradiction = contradictionOf(parsed.data);
  if (contradiction) throw invalid(CONTRADICTIONS[contradiction.kind], `fields.${contradiction.field}`);
}

const CONTRADICTIONS: Record<NonNullable<ReturnType<typeof contradictionOf>>['kind'], string> = {
  'active parameters': text('Active parameters cannot be more than all parameters'),
  'KV heads': text('KV heads cannot be more than heads'),
  'active experts': text('Active experts cannot be more than experts'),
  'too few parameters': text('The architecture alone has more parameters than this total'),
};

/** Fields that are not as they were shipped. */
const differing = (shipped: CatalogueModel, fields: Fields): Fields => {
  const known = new Map<string, unknown>(Object.entries(shipped));
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !isDeepStrictEqual(value, known.get(name) ?? null)),
  );
};

const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== undefined && !names.includes(name)));

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(nestedWithoutNulls(fields)).filter(([, value]) => value !== null));

/** `null` inside of a field, such as `parameters.active`, is left out; a field that is `null` is taken away. */
const nestedWithoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null))
        : value,
    ]),
  );

const linksOf = (modelId: string, files: readonly { repository: string }[]): string[] => [
  ...new Set([modelId, ...files.map(({ repository }) => repository)]),
];
