import { CatalogueModel, REPOSITORY } from '@stagi/perf/catalogue.ts';
import { type Contradiction, contradictionOf } from '@stagi/perf/contradictions.ts';
import { weightFormat } from '@stagi/perf/precision.ts';
import { fileOf, filesOf, QUALITIES, type Quality } from '@stagi/perf/quality.ts';
import { sequenceBytes, shapeOf, weightBytes } from '@stagi/perf/shape.ts';

export interface Preview {
  /** Of the file of each quality that an engine would be given. */
  weights: { quality: Quality; bytes: number }[];
  /** The cache of one sequence; null where the architecture is not known. */
  cacheBytes: number | null;
  contradiction: Contradiction | null;
}

/** In tokens: what the list judges fits with. */
export const PREVIEW_CONTEXT = 8192;
const CACHE_ELEMENT_BYTES = 2;

/** What the formulas make of an entry that is being typed; null while its numbers are not complete. */
export function previewOf(modelId: string, fields: Record<string, unknown>): Preview | null {
  const known = Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, withoutNulls(value)]])),
  );
  const parsed = CatalogueModel.safeParse({
    ...known,
    // Files of the model's own repository are its original ones.
    id: CatalogueModel.shape.id.safeParse(modelId.trim()).data ?? 'no/name',
    name: 'a',
    publisher: 'a',
    links: [],
    source: [{ computed: 'a' }],
    precisions: Array.isArray(known.precisions) ? known.precisions.map(named) : [],
  });
  if (!parsed.success) return null;
  const model = parsed.data;
  const shape = shapeOf(model);
  const files = filesOf(model);
  return {
    weights: QUALITIES.toReversed().flatMap((quality) => {
      const file = fileOf(files, quality);
      if (!file) return [];
      const bytes = shape
        ? weightBytes(shape, file.precision)
        : model.parameters.total * weightFormat(file.precision).bytes;
      return [{ quality, bytes }];
    }),
    cacheBytes: shape ? sequenceBytes(shape, PREVIEW_CONTEXT, CACHE_ELEMENT_BYTES, 1) : null,
    contradiction: contradictionOf(model),
  };
}

/** A file whose repository is still being typed counts by its precision alone. */
const named = (file: { repository: string }) =>
  REPOSITORY.test(file.repository.trim())
    ? { ...file, repository: file.repository.trim() }
    : { ...file, repository: 'no/file' };

/** A field that is an object, such as the parameters: without what is not known of it. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null && part !== undefined));
}
