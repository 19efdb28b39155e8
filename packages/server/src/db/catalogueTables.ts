import type { EngineTemplateName } from '@stagi/contract/engineTemplates.ts';
import type { Sources } from '@stagi/perf/catalogue.ts';
import type { Quality } from '@stagi/perf/quality.ts';
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

/** A model that an engine serves in a container. */
export interface ModelEndpointTable {
  id: GeneratedAlways<number>;
  workspace_id: number;
  title: string;
  model_id: string;
  model_title: string;
  quality: Quality;
  precision: string;
  repository: string;
  variant: string | null;
  engine: EngineTemplateName;
  gpu_count: number;
  context: number | null;
  host_port: number;
  container_port: number;
  instance_id: number;
  container_id: number | null;
  wanted_sealed: string | null;
  key_sealed: string | null;
  server_deadline: Date | null;
  failed_reason: string | null;
  failed_at: Date | null;
  checked_at: Date | null;
  answered_at: Date | null;
  check_error: string | null;
  deleted_at: Date | null;
  created_by: number | null;
  created_at: Created;
}
