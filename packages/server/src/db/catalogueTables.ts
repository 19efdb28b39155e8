import type { Sources } from '@stagi/perf/catalogue.ts';
import type { ColumnType, GeneratedAlways } from 'kysely';
import type { z } from 'zod';
import type { Created, Json } from './columns.ts';

/** What an operator added to the catalogue of models, or changed in it. */
export interface CatalogueChangeTable {
  id: GeneratedAlways<number>;
  model_id: string;
  kind: 'added' | 'changed' | 'hidden';
  fields: Json<Record<string, unknown>>;
  source: Json<z.infer<typeof Sources>>;
  note: string | null;
  created_by: number | null;
  created_at: Created;
  updated_at: ColumnType<Date, Date | undefined, Date>;
}
