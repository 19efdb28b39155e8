import type { AdminModel, CatalogueRow, EntryState } from '@stagi/contract/adminModels.ts';
import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { CatalogueModel } from '@stagi/perf/catalogue.ts';
import { models as builtIn } from '@stagi/perf/catalogueFiles.ts';
import type { Selectable } from 'kysely';
import type { CatalogueChangeTable } from '../db/catalogueTables.ts';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { offsetOf, sortColumn } from '../http/paging.ts';
import { addedEntry, mergedEntry, nameOf } from './catalogue.ts';
import { holdEveryWord } from './words.ts';

/** What operators made of one entry. */
export type ChangeRow = Selectable<CatalogueChangeTable>;

type ShownRow = ChangeRow & { creator_name: string | null; creator_email: string | null };
type Input = ParsedInputOf<typeof api.adminModels.list>;

export const shippedModel = (modelId: string): CatalogueModel | undefined => builtIn.find(({ id }) => id === modelId);

/** One page of all entries: a few hundred, most of which are no rows of the database. */
export async function listEntries(db: Db, { entityFilterRequest: request, states }: Input) {
  const rows: ShownRow[] = await changeRows(db).execute();
  const changeOf = new Map(rows.map((row) => [row.model_id, row]));
  const ids = new Set([...builtIn.map(({ id }) => id), ...changeOf.keys()]);
  const key = sortColumn(request, SORT_KEYS);
  const order = request.orderByDirection === 'asc' ? 1 : -1;
  const found = [...ids]
    .map((id) => presentEntry(id, changeOf.get(id)))
    .filter((entry) => !states?.length || states.includes(entry.state))
    .filter((entry) => matches(entry, request.queryString))
    .toSorted((a, b) => order * compare(a[key], b[key]) || compare(a.title, b.title) || compare(a.modelId, b.modelId));
  const page = found.slice(offsetOf(request), offsetOf(request) + request.limit);
  return { entities: page.map(rowOf), count: found.length };
}

/** One entry; 404 if neither the release nor an operator has brought it. */
export async function viewEntry(db: Db, modelId: string): Promise<AdminModel> {
  const row: ShownRow | undefined = await changeRows(db).where('model_id', '=', modelId).executeTakeFirst();
  if (!row && !shippedModel(modelId)) throw notFound();
  return presentEntry(modelId, row);
}

const changeRows = (db: Db) =>
  db
    .selectFrom('catalogue_change')
    .leftJoin('app_user', 'app_user.id', 'catalogue_change.created_by')
    .selectAll('catalogue_change')
    .select(['app_user.name as creator_name', 'app_user.email as creator_email']);

/** The newest changes come first; entries without one by title. */
const SORT_KEYS = {
  createdAt: 'changedAt',
  title: 'title',
  publisher: 'publisher',
  parameters: 'parameters',
  state: 'state',
} as const satisfies Record<string, keyof CatalogueRow>;

function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, 'en');
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}

const matches = ({ modelId, title, publisher, note }: CatalogueRow, asked: string | undefined): boolean =>
  holdEveryWord([modelId, title, publisher, note], asked);

function presentEntry(modelId: string, row: ShownRow | undefined): AdminModel {
  const shipped = shippedModel(modelId);
  const parsed = CatalogueModel.safeParse(row ? wholeEntry(row) : shipped);
  const entry = parsed.success ? parsed.data : null;
  const shown = entry ?? shipped;
  return {
    modelId,
    name: nameOf(modelId),
    title: shown?.name ?? modelId,
    publisher: shown?.publisher ?? '',
    task: shown?.task ?? '',
    parameters: shown?.parameters.total ?? null,
    state: stateOf(row),
    isShipped: shipped !== undefined,
    changed: row && shipped ? Object.keys(row.fields).toSorted() : [],
    problem: entry === null ? 'invalid' : row?.kind === 'added' && shipped ? 'shipped meanwhile' : null,
    note: row?.note ?? '',
    changedAt: row?.updated_at.toISOString() ?? null,
    createdBy:
      row && row.created_by !== null
        ? { userId: row.created_by, name: row.creator_name ?? '', email: row.creator_email ?? '' }
        : null,
    shipped: shipped ?? null,
    entry,
    fields: row?.fields ?? {},
    source: row && Object.keys(row.fields).length > 0 ? row.source : null,
    version: row?.updated_at.toISOString() ?? null,
  };
}

/** The entry with the change, whether it is shown or hidden. */
export function wholeEntry(row: Pick<ChangeRow, 'model_id' | 'fields' | 'source'>): unknown {
  const shipped = shippedModel(row.model_id);
  return shipped ? mergedEntry(shipped, row.fields) : addedEntry(row);
}

const stateOf = (row: ChangeRow | undefined): EntryState => row?.kind ?? 'shipped';

function rowOf(entry: AdminModel): CatalogueRow {
  const { shipped: _shipped, entry: _entry, fields: _fields, source: _source, version: _version, ...row } = entry;
  return row;
}
