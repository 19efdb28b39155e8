import { engineTemplate, fillIn, type Served } from '@stagi/contract/engineTemplates.ts';
import type { EndpointView } from './queries.ts';

type Row = Pick<EndpointView, 'repository' | 'variant' | 'context' | 'gpu_count' | 'engine'>;

/** What the places of its engine's template stand for. */
export const servedOf = ({ repository, variant, context, gpu_count: gpus }: Row): Served => ({
  repository,
  variant,
  context,
  gpus,
});

/** What the engine calls its model in requests. */
export const modelNameOf = (row: Row): string => fillIn(engineTemplate(row.engine).modelName, servedOf(row));
