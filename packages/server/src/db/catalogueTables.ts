import type { EngineTemplateName } from '@stagi/contract/engineTemplates.ts';
import type { EndpointStatus } from '@stagi/contract/modelEndpoints.ts';
import type { Sources } from '@stagi/perf/catalogue.ts';
import type { Quality } from '@stagi/perf/quality.ts';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
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
  check_due: Generated<Date>;
  checked_container: string | null;
  announced_status: EndpointStatus | null;
  last_line: string | null;
  load_asked_at: Date | null;
  load_lease: string | null;
  load_lease_until: Date | null;
  load_error: string | null;
  load_failed_at: Date | null;
  deleted_at: Date | null;
  created_by: number | null;
  created_at: Created;
}
